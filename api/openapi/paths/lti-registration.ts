import { z } from 'zod';
import type { ZodOpenApiPathsObject, ZodOpenApiResponsesObject } from 'zod-openapi';
import { registrationFaults } from '../../lti/registration-faults.ts';
import type { RegistrationFaultCode } from '../../lti/registration-faults.ts';
import { registrationQuery } from '../../lti/lti-registration.endpoints.ts';
import { anyOrigin, limited, retryAfter } from '../headers.ts';
import { failures, jsonResponse, limitedFailures } from '../responses.ts';
import { open } from '../security.ts';
import { pageOf } from './lti.ts';

const methods = 'GET, HEAD, OPTIONS';

const keySet = z
  .strictObject({
    keys: z.array(
      z.strictObject({
        kty: z.literal('RSA'),
        kid: z.string(),
        use: z.literal('sig'),
        alg: z.literal('RS256'),
        n: z.string(),
        e: z.string(),
      }),
    ),
  })
  .meta({ id: 'KeySet', description: 'A JWK set (RFC 7517).' });

const keySetExample = {
  keys: [
    {
      kty: 'RSA',
      kid: '3b2f8c1e-5d0a-4f7e-9a54-1f0f3f6f2c11',
      use: 'sig',
      alg: 'RS256',
      n: 'u1W0yB2p…',
      e: 'AQAB',
    },
  ],
};

/** The page of a fault says its code; several codes may have one status. */
function faultPage(error: string, more = {}) {
  const codes = (Object.keys(registrationFaults) as RegistrationFaultCode[]).filter(
    (code) => registrationFaults[code].error === error,
  );
  return pageOf(
    `A page that says what to do, with its code: ${codes.map((code) => `\`${code}\``).join(', ')}.`,
    more,
  );
}

const refusals: ZodOpenApiResponsesObject = {
  400: faultPage('BAD_REQUEST'),
  403: faultPage('FORBIDDEN'),
  404: faultPage('NOT_FOUND'),
  409: faultPage('CONFLICT'),
  429: faultPage('TOO_MANY_REQUESTS', retryAfter),
  500: faultPage('INTERNAL_ERROR'),
  502: faultPage('BAD_GATEWAY'),
  ...failures(
    {
      431: {
        when: 'The address is too long: what the platform put into it would not reach a page.',
        texts: ['The address and the headers of a request must be at most 32768 bytes'],
      },
    },
    {},
  ),
};

/** By which learning platforms and Lectern come to know each other. */
export const ltiRegistrationPaths: ZodOpenApiPathsObject = {
  '/lti/jwks': {
    get: {
      operationId: 'getKeySet',
      tags: ['LTI'],
      summary: 'Fetch the public keys of this service',
      description:
        'For learning platforms: what the service sends them is signed with one of these. A new key is here for a ' +
        'day before it signs, an old one for a month after.',
      security: open,
      responses: {
        200: jsonResponse(
          'The keys that sign, did or will.',
          keySet,
          { ...limited, ...anyOrigin(methods), 'Cache-Control': z.literal('public, max-age=3600') },
          { one: { value: keySetExample } },
        ),
        ...limitedFailures(
          {
            500: { when: 'Something failed on the server.', texts: ['An unexpected error occurred'] },
          },
          { ...limited, ...anyOrigin(methods) },
        ),
      },
    },
  },
  '/lti/register/{token}': {
    get: {
      operationId: 'register',
      tags: ['LTI'],
      summary: 'Register this service in a learning platform',
      description:
        'LTI Dynamic Registration 1.0, begun by the platform at an address that the operator makes with ' +
        '`lectern platform invite`. It is good for one registration, which waits for `lectern platform approve`. ' +
        '`HEAD` registers nothing.',
      security: open,
      requestParams: {
        path: z.object({
          token: z.string().meta({ description: 'Lets one platform in, within 24 hours.' }),
        }),
        query: registrationQuery,
      },
      responses: {
        200: pageOf('A page that says what to do next, with a button that has the platform close it.'),
        ...refusals,
      },
    },
  },
};
