import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { inject } from 'vitest';
import { listen, readResponseForm } from './foreign-tool.ts';
import type { ForeignTool, LaunchForm } from './foreign-tool.ts';

/** What a launch gave, as ltijs hands it on. */
interface IdToken {
  user: string;
  platformContext: {
    context: { id: string };
    resource?: { id: string };
    custom: Record<string, string>;
    endpoint: { lineitem: string };
  };
}

interface Score {
  scoreGiven: number;
  scoreMaximum: number;
  activityProgress: string;
  gradingProgress: string;
}

type Callback = (token: IdToken, request: unknown, response: { send: (text: string) => void }) => void;

/** As much of ltijs as its documentation shows and the tests use. */
interface Provider {
  app: RequestListener;
  setup(key: string, database: { url: string }, options: object): void;
  deploy(options: { serverless: true; silent: true }): Promise<unknown>;
  close(options: { silent: true }): Promise<unknown>;
  onConnect(callback: Callback): void;
  onDeepLinking(callback: Callback): void;
  DeepLinking: { createDeepLinkingForm(token: IdToken, items: object[], options: object): Promise<string> };
  Grade: {
    submitScore(token: IdToken, lineItem: string, score: Score): Promise<unknown>;
    getScores(
      token: IdToken,
      lineItem: string,
    ): Promise<{ scores: { userId: string; resultScore: number }[] }>;
    getLineItems(token: IdToken): Promise<{ lineItems: { label: string }[] }>;
  };
}

/** Starts a tool made with ltijs, on the MongoDB of the test run. @param path of the module. */
export async function startLtijs({ ltijs: path }: { ltijs: string }): Promise<ForeignTool> {
  const { Provider: lti } = createRequire(import.meta.url)(path) as { Provider: Provider };
  const { url, close } = await listen(() => lti.app);
  const database = new URL(inject('mongodbUri'));
  database.pathname = `/ltijs-${randomBytes(6).toString('hex')}`;
  lti.setup(
    'a key for ltijs',
    { url: database.href },
    { dynReg: { url, name: 'ltijs', autoActivate: true } },
  );
  let last: IdToken | null = null;
  const keep: Callback = (token, _request, response) => {
    last = token;
    response.send('launched');
  };
  lti.onConnect(keep);
  lti.onDeepLinking(keep);
  await lti.deploy({ serverless: true, silent: true });
  const token = () => {
    if (last === null) throw new Error('Nothing was launched.');
    return last;
  };

  return {
    registrationUrl: `${url}/register`,
    register: async (address) => {
      const page = await (await fetch(address)).text();
      if (!page.includes('org.imsglobal.lti.close')) throw new Error(page);
    },
    open: (form) => openInBrowser(form),
    launched: () => {
      const { user, platformContext } = token();
      const { context, resource, custom } = platformContext;
      return { user, course: context.id, link: resource?.id ?? null, custom };
    },
    chooseLink: async (title, custom) => {
      const lineItem = { scoreMaximum: 10, label: title };
      const item = { type: 'ltiResourceLink', url, title, custom, lineItem };
      return readResponseForm(await lti.DeepLinking.createDeepLinkingForm(token(), [item], {}));
    },
    sendScore: async (scoreGiven) => {
      const score = {
        scoreGiven,
        scoreMaximum: 100,
        activityProgress: 'Completed',
        gradingProgress: 'FullyGraded',
      };
      await lti.Grade.submitScore(token(), token().platformContext.endpoint.lineitem, score);
    },
    readResults: async () => {
      const { scores } = await lti.Grade.getScores(token(), token().platformContext.endpoint.lineitem);
      return Object.fromEntries(scores.map(({ userId, resultScore }) => [userId, resultScore]));
    },
    listLineItems: async () => {
      const { lineItems } = await lti.Grade.getLineItems(token());
      return lineItems.map(({ label }) => label);
    },
    close: async () => {
      close();
      await lti.close({ silent: true });
    },
  };
}

/** Posts the form and follows where it leads, with the cookies of the way. */
async function openInBrowser({ action, fields, cookie }: LaunchForm): Promise<void> {
  const body = new URLSearchParams(fields);
  const launch = await fetch(action, { method: 'POST', body, headers: { cookie }, redirect: 'manual' });
  const location = launch.headers.get('location');
  if (location === null) throw new Error(`The tool refuses the launch: ${await launch.text()}`);
  const session = launch.headers.getSetCookie().map((line) => line.split(';', 1)[0]);
  const page = await fetch(new URL(location, action), { headers: { cookie: session.join('; ') } });
  if (!page.ok) throw new Error(`The tool refuses its session: ${await page.text()}`);
}
