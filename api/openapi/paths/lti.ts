import { z } from 'zod';
import type { ZodOpenApiPathsObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { faults } from '../../lti/faults.ts';
import type { FaultCode } from '../../lti/faults.ts';
import { launchSchema } from '../../lti/launch.ts';
import { loginSchema } from '../../lti/login.ts';
import { asHeaders, limited, noStore, retryAfter } from '../headers.ts';
import type { Headers } from '../headers.ts';
import { open } from '../security.ts';

const common: Headers = { ...limited, ...noStore, 'Referrer-Policy': z.literal('same-origin') };
const pageHeaders: Headers = {
  ...common,
  'Content-Security-Policy': z.string().meta({ description: 'What the page may do.' }),
};
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
  'foreign_target',
  'unknown_platform',
  'ambiguous_platform',
  'platform_not_approved',
];
const isOfLogin = (code: FaultCode) => ofLogin.includes(code);
const isOfLaunch = (code: FaultCode) => !isOfLogin(code) || code === 'unknown_platform';

const login = {
  tags: ['LTI'],
  description:
    'Third-party initiated login (LTI 1.3): sends the browser on to the platform. Several platforms of one issuer ' +
    'are told apart by `client_id` and `lti_deployment_id`. With `lti_storage_target` a page of Lectern has the ' +
    'platform keep something for the browser first. Each parameter is given once.',
  security: open,
  responses: {
    200: pageOf('A page that goes on to the platform by itself.', browserCookie),
    302: redirectTo('To the authorization endpoint of the platform.', browserCookie),
    ...refusals({
      400: ofError('BAD_REQUEST').filter(isOfLogin),
      403: ofError('FORBIDDEN').filter(isOfLogin),
    }),
  },
};

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
      requestBody: {
        required: true,
        description: 'At most 32 KiB.',
        content: { 'application/x-www-form-urlencoded': { schema: loginSchema } },
      },
      ...login,
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
          404: ofError('NOT_FOUND'),
          502: ofError('BAD_GATEWAY'),
        }),
      },
    },
  },
};
