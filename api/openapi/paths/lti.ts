import { z } from 'zod';
import type { ZodOpenApiPathsObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { faults } from '../../lti/faults.ts';
import type { FaultCode } from '../../lti/faults.ts';
import { launchSchema } from '../../lti/launch.ts';
import { loginSchema } from '../../lti/login.ts';
import { asHeaders, limited, noStore, retryAfter } from '../headers.ts';
import type { Headers } from '../headers.ts';
import { open } from '../security.ts';

const policy: Headers = {
  'Content-Security-Policy': z.string().meta({ description: 'What the page may do.' }),
};
const common: Headers = { ...limited, ...noStore, 'Referrer-Policy': z.literal('same-origin') };
const pageHeaders: Headers = { ...common, ...policy };
const browserCookie: Headers = {
  'Set-Cookie': z.string().meta({ description: 'By which the browser is known when the launch comes.' }),
};

/** A page that is answered to browsers that come from a platform. */
export const pageOf = (description: string, headers: Headers = {}) => ({
  description,
  headers: asHeaders({ ...pageHeaders, ...headers }),
  content: { 'text/html': { schema: { type: 'string' as const } } },
});
const redirectTo = (description: string, headers: Headers = {}) => ({
  description,
  headers: asHeaders({ ...common, Location: z.string(), ...headers }),
});

/** The page of a refusal says its code; several codes may have one status. */
const refusal = (codes: FaultCode[], headers: Headers = {}) =>
  pageOf(
    `A page that says what to do, with its code: ${codes.map((code) => `\`${code}\``).join(', ')}.`,
    headers,
  );

const refusals = (codes: Record<number, FaultCode[]>): ZodOpenApiResponsesObject => ({
  ...Object.fromEntries(Object.entries(codes).map(([status, some]) => [status, refusal(some)])),
  413: refusal(['malformed_request']),
  422: refusal(['malformed_request']),
  429: refusal(['too_many_requests'], retryAfter),
  500: refusal(['server_error']),
});

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

const loginBody = {
  required: true,
  description: 'At most 32 KiB.',
  content: { 'application/x-www-form-urlencoded': { schema: loginSchema } },
};
const toPlatform = { 302: redirectTo('To the authorization endpoint of the platform.', browserCookie) };
const loginRefusals = refusals({
  400: ofError('BAD_REQUEST').filter(isOfLogin),
  403: ofError('FORBIDDEN').filter(isOfLogin),
});

const login = {
  tags: ['LTI'],
  description:
    'Third-party initiated login (LTI 1.3): sends the browser on to the platform. Several platforms of one issuer ' +
    'are told apart by `client_id` and `lti_deployment_id`. A login that may be in a frame (no `Sec-Fetch-Dest: ' +
    'document`) is sent to `/lti/login/checked` first. Each parameter is given once.',
  security: open,
  responses: {
    ...toPlatform,
    307: redirectTo(
      'To `/lti/login/checked`, with the same fields and a cookie to show there.',
      browserCookie,
    ),
    ...loginRefusals,
  },
};

const checkedLogin = {
  tags: ['LTI'],
  description:
    'The same login, with which the browser shows whether it keeps cookies: it goes on to the platform if so. Else, ' +
    'with `lti_storage_target`, a page of Lectern has the platform keep something for the browser, and goes on if it ' +
    'does. Else a page has a button for the login in a tab of its own (`cookies_blocked`); the platform is not asked.',
  security: open,
  responses: {
    ...toPlatform,
    200: pageOf(
      'A page that goes on to the platform by itself, if the platform’s storage answers.',
      browserCookie,
    ),
    ...loginRefusals,
  },
};

const choice = {
  tags: ['LTI'],
  security: open,
};
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
  action: z.enum(['choose', 'cancel']).meta({ description: '`cancel` answers the platform with nothing.' }),
});
const choicePage = (description: string, ...referrer: [string, ...string[]]) => ({
  ...pageOf(description),
  headers: asHeaders({ ...limited, ...noStore, ...policy, 'Referrer-Policy': z.enum(referrer) }),
});

/** Where learning platforms send their users. */
export const ltiPaths: ZodOpenApiPathsObject = {
  '/lti/login': {
    get: {
      operationId: 'beginLogin',
      summary: 'Begin a launch',
      requestParams: { query: loginSchema },
      ...login,
    },
    post: {
      operationId: 'postLogin',
      summary: 'Begin a launch, with a form',
      requestBody: loginBody,
      ...login,
    },
  },
  '/lti/login/checked': {
    get: {
      operationId: 'goOnWithLogin',
      summary: 'Go on with a launch',
      requestParams: { query: loginSchema },
      ...checkedLogin,
    },
    post: {
      operationId: 'postCheckedLogin',
      summary: 'Go on with a launch, with a form',
      requestBody: loginBody,
      ...checkedLogin,
    },
  },
  '/lti/launch': {
    post: {
      operationId: 'launch',
      tags: ['LTI'],
      summary: 'Open a lesson, or choose lessons',
      description:
        'The answer of the platform to a login, sent by the same browser: `LtiResourceLinkRequest` leads to the ' +
        'lesson, `LtiDeepLinkingRequest` to the page where lessons are chosen. A state can be used once.',
      security: open,
      requestBody: {
        required: true,
        description: 'At most 256 KiB.',
        content: { 'application/x-www-form-urlencoded': { schema: launchSchema } },
      },
      responses: {
        200: pageOf(
          'A page that asks the platform’s storage who the browser is, and sends the launch again.',
        ),
        303: redirectTo('To the embed page with a token for eight hours, or to the choice of lessons.'),
        ...refusals({
          400: ofError('BAD_REQUEST').filter(isOfLaunch),
          403: ofError('FORBIDDEN').filter(isOfLaunch),
          404: ofError('NOT_FOUND').filter(isOfLaunch),
          502: ofError('BAD_GATEWAY'),
        }),
      },
    },
  },
  '/lti/select/{choiceId}': {
    get: {
      ...choice,
      operationId: 'showLessons',
      summary: 'Lessons to choose from',
      description:
        'The page where a teacher chooses among the published lessons of the platform’s organization. A launch with ' +
        'an `LtiDeepLinkingRequest` leads to it. It is one form, and needs no script.',
      requestParams: { path: choiceId, query: choiceFields },
      responses: {
        200: choicePage('The page.', 'no-referrer'),
        ...refusals({ 404: ['choice_expired'] }),
      },
    },
    post: {
      ...choice,
      operationId: 'takeChoice',
      summary: 'Send a choice to the platform',
      description: 'Answers the platform through the browser: `LtiDeepLinkingResponse`, signed by Lectern.',
      requestParams: { path: choiceId },
      requestBody: {
        required: true,
        description: 'At most 32 KiB.',
        content: { 'application/x-www-form-urlencoded': { schema: sentFields } },
      },
      responses: {
        ...refusals({ 404: ['choice_expired'] }),
        200: choicePage('A page that sends the answer to the platform by itself.', 'strict-origin'),
        422: choicePage(
          'The page of the lessons once more, with what is wrong with the choice; for what is no form, a page that says ' +
            'what to do, with its code: `malformed_request`.',
          'no-referrer',
          'same-origin',
        ),
      },
    },
  },
};
