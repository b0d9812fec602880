import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { inject } from 'vitest';
import { withFetchFolder } from '../../shared/embedded/find-mongod.ts';
import { messageOf } from '../../shared/platform/errors.ts';

/** A third-party tool behind the interface of the tests. */
export type ForeignTool = Awaited<ReturnType<typeof startLtijs>>;

export interface LaunchForm {
  action: string;
  fields: Record<string, string>;
  cookie: string;
}

export interface LaunchFacts {
  user: string;
  course: string;
  link: string | null;
  custom: Record<string, string>;
}

/** The release of ltijs on npm. */
const release = '5.9.9';

const fetchTimeoutMs = 4 * 60_000;

/**
 * Fetches ltijs and its dependencies from npm once, and keeps them in the user's cache; Lectern does not depend on
 * them. None of their scripts run.
 *
 * @returns the path of the module; null, with a message, if it cannot be fetched
 */
export async function fetchLtijs(cacheDir: string): Promise<string | null> {
  const kept = join(cacheDir, `ltijs-${release}`);
  try {
    if (!existsSync(kept)) await withFetchFolder(cacheDir, (folder) => installInto(kept, folder));
    return join(kept, 'node_modules', 'ltijs');
  } catch (error) {
    process.stderr.write(`\nNOT RUN: ltijs cannot be fetched from npm: ${messageOf(error)}\n\n`);
    return null;
  }
}

async function installInto(target: string, folder: string): Promise<void> {
  const manifest = JSON.stringify({ private: true, dependencies: { ltijs: release } });
  await writeFile(join(folder, 'package.json'), manifest);
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  const installing = { cwd: folder, timeout: fetchTimeoutMs };
  await promisify(execFile)('npm', ['install', ...options], installing);
  await mkdir(target, { recursive: true });
  await rename(join(folder, 'node_modules'), join(target, 'node_modules'));
}

/** The data of a launch from ltijs. */
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

/** The documented part of ltijs that the tests use. */
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
export async function startLtijs(path: string) {
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
    /** The URL of its dynamic registration. */
    registrationUrl: `${url}/register`,
    /** Completes a registration, like a teacher in a browser. */
    register: async (address: string) => {
      const page = await (await fetch(address)).text();
      if (!page.includes('org.imsglobal.lti.close')) throw new Error(page);
    },
    /** Submits a launch's form up to the tool's own page; rejects if the tool rejects it. */
    open: openInBrowser,
    /** Returns the facts of the last launch. */
    launched: (): LaunchFacts => {
      const { user, platformContext } = token();
      const { context, resource, custom } = platformContext;
      return { user, course: context.id, link: resource?.id ?? null, custom };
    },
    /** Responds to the last deep linking request with one link and a line item of 10 points. */
    chooseLink: async (title: string, custom: Record<string, string>) => {
      const lineItem = { scoreMaximum: 10, label: title };
      const item = { type: 'ltiResourceLink', url, title, custom, lineItem };
      return readResponseForm(await lti.DeepLinking.createDeepLinkingForm(token(), [item], {}));
    },
    /** Sends a score out of 100 for the user of the last launch. */
    sendScore: async (scoreGiven: number) => {
      const score = {
        scoreGiven,
        scoreMaximum: 100,
        activityProgress: 'Completed',
        gradingProgress: 'FullyGraded',
      };
      await lti.Grade.submitScore(token(), token().platformContext.endpoint.lineitem, score);
    },
    /** Reads the results of the last launch's line item, by user. */
    readResults: async (): Promise<Record<string, number>> => {
      const { scores } = await lti.Grade.getScores(token(), token().platformContext.endpoint.lineitem);
      return Object.fromEntries(scores.map(({ userId, resultScore }) => [userId, resultScore]));
    },
    /** Returns the labels of the line items. */
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

/** Posts the form and follows its redirect with all cookies. */
async function openInBrowser({ action, fields, cookie }: LaunchForm): Promise<void> {
  const body = new URLSearchParams(fields);
  const launch = await fetch(action, { method: 'POST', body, headers: { cookie }, redirect: 'manual' });
  const location = launch.headers.get('location');
  if (location === null) throw new Error(`The tool rejects the launch: ${await launch.text()}`);
  const session = launch.headers.getSetCookie().map((line) => line.split(';', 1)[0]);
  const page = await fetch(new URL(location, action), { headers: { cookie: session.join('; ') } });
  if (!page.ok) throw new Error(`The tool rejects its session: ${await page.text()}`);
}

/** Listens on a free port of 127.0.0.1; the handler may be set later. */
async function listen(handle: () => RequestListener): Promise<{ url: string; close: () => void }> {
  const server = createServer((request, response) => {
    handle()(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

/** Returns the URL and the token in the form of a deep linking response. */
function readResponseForm(page: string): { action: string; jwt: string } {
  const [, action = ''] = /<form[^>]* action="([^"]+)"/.exec(page) ?? [];
  const [, jwt = ''] = /name="JWT"[^>]* value="([^"]+)"/.exec(page) ?? [];
  return { action, jwt };
}
