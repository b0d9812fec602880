import type { RequestContext } from '../http/context.ts';
import { z } from 'zod';
import { recordLaunch } from '../../shared/models/lti-platform.ts';
import type { LecternError } from '../../shared/platform/errors.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import { limited, noStore } from '../http/headers.ts';
import { clientIp } from '../http/client-ip.ts';
import { formBody, readFields, readForm } from '../http/middleware/form-body.ts';
import type { Fields } from '../http/middleware/form-body.ts';
import { previewLesson, showLessons, takeSelection } from './choose-lessons.ts';
import type { LaunchOutcome, LtiDependencies } from './dependencies.ts';
import { faultOf, faults, LaunchFault } from './faults.ts';
import type { FaultCode } from './faults.ts';
import { handleLaunch, launchingPlatform, launchSchema } from './launch.ts';
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
  // Launches are not in the audit log: the progress records of learners show them.
  audit: null,
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

/** Large, because some platforms send a token as a hint. */
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
    'Third-party initiated login (LTI 1.3): redirects the browser to the platform. `client_id` and ' +
    '`lti_deployment_id` distinguish several platforms of one issuer. A login that may be in a frame (no ' +
    '`Sec-Fetch-Dest: document`) is redirected to `/lti/login/checked` first. Give each parameter once.',
  responses: {
    ...toPlatform,
    307: redirectTo('To `/lti/login/checked`, with the same fields and a test cookie.', browserCookie),
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
    'Repeats the login to see whether the browser keeps cookies. If so, it continues to the platform. If not, and there ' +
    'is `lti_storage_target`, a page stores a secret in the platform’s storage and then continues. Otherwise a page ' +
    'offers the login in a new tab (`cookies_blocked`), before the platform is involved.',
  responses: {
    ...toPlatform,
    200: pageOf('A page that continues to the platform if the platform’s storage responds.', browserCookie),
    ...loginFaults,
  },
} as const;

/** GET /lti/login/checked: the repeated login, which shows whether the browser keeps cookies. */
export const continueLogin = defineEndpoint(
  {
    ...checkedLogin,
    method: 'get',
    laterQuery: loginSchema,
    operationId: 'goOnWithLogin',
    summary: 'Continue a launch',
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
    summary: 'Continue a launch, with a form',
  },
  (deps: LtiDependencies) =>
    async ({ ctx, readBody }) => {
      await startLogin(deps, ctx, await readBody(), { checked: true });
      return written;
    },
);

/** Large, because some platforms send much data of the user and the course. */
const maxLaunchBytes = 32 * 1024;

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
      'The platform’s response to a login, which the same browser sends: `LtiResourceLinkRequest` opens the lesson, ' +
      '`LtiDeepLinkingRequest` the page where teachers choose lessons. A state can be used once.',
    responses: {
      200: pageOf(
        'A page that reads the browser’s secret from the platform’s storage and repeats the launch.',
      ),
      303: redirectTo(
        'To the embed page with a token that is valid for eight hours, or to the lesson selection.',
      ),
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
      const fields = await readLaunchForm(deps, ctx);
      const outcome = await recorded(deps, ctx, () => handleLaunch(deps, ctx, fields));
      if (outcome !== 'asks_storage') {
        deps.lti.launches.launched(outcome);
        ctx.state.log.info({ outcome }, 'launch');
      }
      return written;
    },
);

/**
 * Reads the form of a launch. Any client can send one, so each IP address has a limit.
 *
 * @throws {LecternError} as `readForm`; TOO_MANY_REQUESTS.
 */
async function readLaunchForm({ requestLimits }: LtiDependencies, ctx: RequestContext): Promise<Fields> {
  await requestLimits.enterLaunch(clientIp(ctx), ctx);
  return readForm(ctx, { maxBytes: maxLaunchBytes });
}

const selectionId = z.object({
  selectionId: z.string().meta({ description: 'The only credential for the selection; valid for an hour.' }),
});
const selectionFields = z.object({
  q: z.string().optional().meta({ description: 'Words of a title.' }),
  cursor: z.string().optional().meta({ description: 'The page of lessons (pagination).' }),
  lesson: z
    .string()
    .optional()
    .meta({
      description:
        'Id of the chosen lesson. For several lessons there are fields `lesson.ID` instead. `version.ID` pins a version, ' +
        '`column.ID` requests a gradebook column.',
    }),
});
const sentFields = selectionFields.extend({
  action: z
    .enum(['choose', 'cancel'])
    .meta({ description: '`cancel` returns an empty selection to the platform.' }),
});
const selectionPage = (description: string, ...referrer: [string, ...string[]]) => ({
  ...pageOf(description),
  headers: { ...limited, ...noStore, ...policy, 'Referrer-Policy': z.enum(referrer) },
});
const selection = { ...common, path: '/lti/select/:selectionId', laterParams: selectionId } as const;

/** GET /lti/select/{selectionId}: the page where a teacher chooses lessons. */
export const showSelection = defineEndpoint(
  {
    ...selection,
    method: 'get',
    laterQuery: selectionFields,
    operationId: 'showLessons',
    summary: 'Lessons to choose from',
    description:
      'The page where a teacher chooses from the published lessons of the platform’s organization. A launch with ' +
      'an `LtiDeepLinkingRequest` redirects to it. It is one form, without scripts.',
    responses: {
      200: selectionPage('The page.', 'no-referrer'),
      ...faultPages({ 404: ['choice_expired'] }),
    },
  },
  (deps: LtiDependencies) =>
    async ({ ctx }) => {
      await showLessons(deps, ctx, ctx.params.selectionId ?? '', readFields(ctx.querystring));
      return written;
    },
);

/** GET /lti/select/{selectionId}/preview/{lessonId}: plays a lesson for a teacher who chooses lessons. */
export const previewChoosable = defineEndpoint(
  {
    ...common,
    method: 'get',
    path: '/lti/select/:selectionId/preview/:lessonId',
    laterParams: selectionId.extend({ lessonId: z.string().meta({ description: 'Id of the lesson.' }) }),
    operationId: 'previewLesson',
    summary: 'Preview a lesson to choose',
    description: 'Plays the newest published version of a lesson. Nothing is recorded.',
    responses: {
      303: redirectTo('To the embed page, with a token that is valid for an hour.'),
      ...faultPages({ 404: ['choice_expired', 'lesson_not_available'] }),
    },
  },
  (deps: LtiDependencies) =>
    async ({ ctx }) => {
      const { selectionId: id = '', lessonId = '' } = ctx.params;
      await previewLesson(deps, ctx, { selectionId: id, lessonId });
      return written;
    },
);

/** POST /lti/select/{selectionId} */
export const sendSelection = defineEndpoint(
  {
    ...selection,
    method: 'post',
    // A page's form with every lesson chosen is smaller.
    body: formBody(32 * 1024, sentFields),
    operationId: 'takeSelection',
    summary: 'Send a selection to the platform',
    description: 'Responds to the platform through the browser: `LtiDeepLinkingResponse`, signed by Lectern.',
    responses: {
      ...faultPages({ 404: ['choice_expired'] }),
      200: selectionPage('A page that sends the response to the platform.', 'strict-origin'),
      422: selectionPage(
        'The page of lessons with a message about the selection; if the body is not a form, a page that says what to do, ' +
          'with its code: `malformed_request`.',
        'no-referrer',
        'same-origin',
      ),
    },
  },
  (deps: LtiDependencies) =>
    async ({ ctx, readBody }) => {
      await takeSelection(deps, ctx, ctx.params.selectionId ?? '', await readBody());
      return written;
    },
);

/** Records the end of a launch with its platform, where administrators see it. */
async function recorded(
  { db }: LtiDependencies,
  ctx: RequestContext,
  run: () => Promise<LaunchOutcome>,
): Promise<LaunchOutcome> {
  const record = async (fault: FaultCode | null) => {
    const platform = launchingPlatform.find(ctx);
    if (platform !== undefined) await recordLaunch(db, platform, fault);
  };
  try {
    const outcome = await run();
    await record(null);
    return outcome;
  } catch (error) {
    if (error instanceof LaunchFault) await record(error.fault);
    throw error;
  }
}

function sendFault(deps: LtiDependencies, ctx: RequestContext, failure: LecternError): void {
  const code = faultOf(failure);
  const details = failure instanceof LaunchFault ? failure.details : {};
  deps.lti.launches.launched(code);
  ctx.state.log.info({ code, ...details }, 'launch rejected');
  sendFaultPage(deps, ctx, code, failure);
}
