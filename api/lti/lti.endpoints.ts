import type { Context } from 'koa';
import { z } from 'zod';
import type { LecternError } from '../../shared/platform/errors.ts';
import type { Logger } from '../../shared/platform/log.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import { limited, noStore } from '../http/headers.ts';
import { clientIp } from '../http/client-ip.ts';
import { formBody, readFields, readFormBytes } from '../http/middleware/form-body.ts';
import type { Fields } from '../http/middleware/form-body.ts';
import { showLessons, takeChoice } from './choose-lessons.ts';
import type { LtiDependencies } from './dependencies.ts';
import { faultOf, faults, LaunchFault } from './faults.ts';
import type { FaultCode } from './faults.ts';
import { answerLaunch, launchSchema } from './launch.ts';
import { loginSchema, startLogin } from './login.ts';
import {
  browserAccess,
  browserCookie,
  faultPages,
  pageErrors,
  pageOf,
  policy,
  redirectTo,
} from './page-responses.ts';
import { sendFaultPage } from './pages.ts';

const common = {
  access: browserAccess,
  errors: pageErrors<LtiDependencies>(sendFault),
  tag: 'LTI',
} as const;

const ofError = (error: string) =>
  (Object.keys(faults) as FaultCode[]).filter((code) => faults[code].error === error);
const ofLogin: FaultCode[] = [
  'login_incomplete',
  'login_too_long',
  'foreign_target',
  'unknown_platform',
  'ambiguous_platform',
  'platform_not_approved',
  'cookies_blocked',
];
const isOfLogin = (code: FaultCode) => ofLogin.includes(code);
const isOfLaunch = (code: FaultCode) =>
  (!isOfLogin(code) && code !== 'choice_expired') || code === 'unknown_platform';

/** Some platforms put tokens into the hints of a login. */
const loginBody = formBody(32 * 1024, loginSchema);
const toPlatform = { 302: redirectTo('To the authorization endpoint of the platform.', browserCookie) };
const loginFaults = faultPages({
  400: ofError('BAD_REQUEST').filter(isOfLogin),
  403: ofError('FORBIDDEN').filter(isOfLogin),
});

const login = {
  ...common,
  path: '/lti/login',
  description:
    'Third-party initiated login (LTI 1.3): sends the browser on to the platform. Several platforms of one issuer ' +
    'are distinguished by `client_id` and `lti_deployment_id`. A login that may be in a frame (no `Sec-Fetch-Dest: ' +
    'document`) is sent to `/lti/login/checked` first. Each parameter is given once.',
  responses: {
    ...toPlatform,
    307: redirectTo(
      'To `/lti/login/checked`, with the same fields and a cookie to show there.',
      browserCookie,
    ),
    ...loginFaults,
  },
} as const;

/** GET /lti/login: where a platform begins a launch. */
export const beginLogin = defineEndpoint(
  {
    ...login,
    method: 'get',
    laterQuery: loginSchema,
    operationId: 'beginLogin',
    summary: 'Begin a launch',
  },
  (deps: LtiDependencies) =>
    async ({ ctx }) => {
      await startLogin(deps, ctx, readFields(ctx.querystring), { checked: false });
      return written;
    },
);

/** POST /lti/login */
export const postLogin = defineEndpoint(
  {
    ...login,
    method: 'post',
    body: loginBody,
    operationId: 'postLogin',
    summary: 'Begin a launch, with a form',
  },
  (deps: LtiDependencies) =>
    async ({ ctx, readBody }) => {
      await startLogin(deps, ctx, await readBody(), { checked: false });
      return written;
    },
);

const checkedLogin = {
  ...common,
  path: '/lti/login/checked',
  description:
    'The same login, with which the browser shows whether it keeps cookies: it goes on to the platform if so. Else, ' +
    'with `lti_storage_target`, a page of Lectern has the platform keep something for the browser, and goes on if it ' +
    'does. Else a page has a button for the login in a tab of its own (`cookies_blocked`); the platform is not asked.',
  responses: {
    ...toPlatform,
    200: pageOf(
      'A page that goes on to the platform by itself, if the platform’s storage answers.',
      browserCookie,
    ),
    ...loginFaults,
  },
} as const;

/** GET /lti/login/checked: the same login, which now shows whether the browser keeps cookies. */
export const goOnWithLogin = defineEndpoint(
  {
    ...checkedLogin,
    method: 'get',
    laterQuery: loginSchema,
    operationId: 'goOnWithLogin',
    summary: 'Go on with a launch',
  },
  (deps: LtiDependencies) =>
    async ({ ctx }) => {
      await startLogin(deps, ctx, readFields(ctx.querystring), { checked: true });
      return written;
    },
);

/** POST /lti/login/checked */
export const postCheckedLogin = defineEndpoint(
  {
    ...checkedLogin,
    method: 'post',
    body: loginBody,
    operationId: 'postCheckedLogin',
    summary: 'Go on with a launch, with a form',
  },
  (deps: LtiDependencies) =>
    async ({ ctx, readBody }) => {
      await startLogin(deps, ctx, await readBody(), { checked: true });
      return written;
    },
);

/** Launches hold the user's and the course's data, as much as the platform sends. */
const maxLaunchBytes = 256 * 1024;

/** POST /lti/launch */
export const launch = defineEndpoint(
  {
    ...common,
    method: 'post',
    path: '/lti/launch',
    body: { ...formBody(maxLaunchBytes, launchSchema), read: undefined },
    operationId: 'launch',
    summary: 'Open a lesson, or choose lessons',
    description:
      'The answer of the platform to a login, sent by the same browser: `LtiResourceLinkRequest` leads to the ' +
      'lesson, `LtiDeepLinkingRequest` to the page where lessons are chosen. A state can be used once.',
    responses: {
      200: pageOf('A page that asks the platform’s storage who the browser is, and sends the launch again.'),
      303: redirectTo('To the embed page with a token for eight hours, or to the choice of lessons.'),
      ...faultPages({
        400: ofError('BAD_REQUEST').filter(isOfLaunch),
        403: ofError('FORBIDDEN').filter(isOfLaunch),
        404: ofError('NOT_FOUND').filter(isOfLaunch),
        502: ofError('BAD_GATEWAY'),
      }),
    },
  },
  (deps: LtiDependencies) =>
    async ({ ctx }) => {
      const outcome = await answerLaunch(deps, ctx, await readLaunchForm(deps, ctx));
      if (outcome !== 'asks_storage') {
        deps.lti.launches.launched(outcome);
        ctx.state.log.info({ outcome }, 'launch');
      }
      return written;
    },
);

/**
 * Reads the form of a launch. Any client can send one, so the large ones of all clients together share what one
 * organization may hold of large bodies, and those of one IP address what a learner may.
 *
 * @throws {LecternError} as `readForm`; TOO_MANY_REQUESTS.
 */
async function readLaunchForm({ largeTexts }: LtiDependencies, ctx: Context): Promise<Fields> {
  const bytes = await largeTexts.share('launches', ctx.res).receive({
    learner: clientIp(ctx),
    announcedBytes: Math.min(Number(ctx.get('Content-Length')), maxLaunchBytes),
    read: (onArrival) => readFormBytes(ctx, { maxBytes: maxLaunchBytes, onArrival }),
  });
  return readFields(bytes.toString());
}

const choiceId = z.object({
  choiceId: z.string().meta({ description: 'Of the choice; whoever has it may choose. Good for an hour.' }),
});
const choiceFields = z.object({
  q: z.string().optional().meta({ description: 'Words of a title.' }),
  cursor: z.string().optional().meta({ description: 'Where a further page of lessons begins.' }),
  lesson: z
    .string()
    .optional()
    .meta({
      description:
        'Id of the chosen lesson. Several are fields `lesson.ID` instead. `version.ID` pins a version, `column.ID` asks ' +
        'for a column in the gradebook.',
    }),
});
const sentFields = choiceFields.extend({
  action: z
    .enum(['choose', 'cancel'])
    .meta({ description: '`cancel` returns an empty selection to the platform.' }),
});
const choicePage = (description: string, ...referrer: [string, ...string[]]) => ({
  ...pageOf(description),
  headers: { ...limited, ...noStore, ...policy, 'Referrer-Policy': z.enum(referrer) },
});
const selection = { ...common, path: '/lti/select/:choiceId', laterParams: choiceId } as const;

/** GET /lti/select/{choiceId}: the page where a teacher chooses lessons. */
export const showChoice = defineEndpoint(
  {
    ...selection,
    method: 'get',
    laterQuery: choiceFields,
    operationId: 'showLessons',
    summary: 'Lessons to choose from',
    description:
      'The page where a teacher chooses among the published lessons of the platform’s organization. A launch with ' +
      'an `LtiDeepLinkingRequest` leads to it. It is one form, and needs no script.',
    responses: {
      200: choicePage('The page.', 'no-referrer'),
      ...faultPages({ 404: ['choice_expired'] }),
    },
  },
  (deps: LtiDependencies) =>
    async ({ ctx }) => {
      await showLessons(deps, ctx, ctx.params.choiceId ?? '', readFields(ctx.querystring));
      return written;
    },
);

/** POST /lti/select/{choiceId} */
export const sendChoice = defineEndpoint(
  {
    ...selection,
    method: 'post',
    // As much as a page of lessons can have in its form, with everything chosen.
    body: formBody(32 * 1024, sentFields),
    operationId: 'takeChoice',
    summary: 'Send a choice to the platform',
    description: 'Answers the platform through the browser: `LtiDeepLinkingResponse`, signed by Lectern.',
    responses: {
      ...faultPages({ 404: ['choice_expired'] }),
      200: choicePage('A page that sends the response to the platform by itself.', 'strict-origin'),
      422: choicePage(
        'The page of the lessons once more, with what is wrong with the choice; for what is no form, a page that says ' +
          'what to do, with its code: `malformed_request`.',
        'no-referrer',
        'same-origin',
      ),
    },
  },
  (deps: LtiDependencies) =>
    async ({ ctx, readBody }) => {
      await takeChoice(deps, ctx, ctx.params.choiceId ?? '', await readBody());
      return written;
    },
);

function sendFault(deps: LtiDependencies, ctx: Context, failure: LecternError): void {
  const code = faultOf(failure);
  const details = failure instanceof LaunchFault ? failure.details : {};
  deps.lti.launches.launched(code);
  (ctx.state.log as Logger).info({ code, ...details }, 'launch refused');
  sendFaultPage(deps, ctx, code, failure);
}
