import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { logInSchema } from '../../accounts/session.endpoints.ts';
import { userSession } from '../bodies.ts';
import * as example from '../examples.ts';
import { asHeaders, forUsers } from '../headers.ts';
import { jsonResponse, limitedFailures } from '../responses.ts';
import { open, withOrWithoutSession, withSession } from '../security.ts';

const unexpected = { when: 'Something failed on the server.', texts: ['An unexpected error occurred'] };
const foreign = {
  when: 'The request comes from a page of another site that the operator has not allowed.',
  texts: ['Requests from other sites are refused'],
};

/** Logging in and out. */
export const userPaths: ZodOpenApiPathsObject = {
  '/api/session': {
    post: {
      operationId: 'logIn',
      tags: ['Users'],
      summary: 'Log in',
      description: 'Begins a session. The operator makes users with `lectern user create`.',
      security: open,
      requestBody: {
        required: true,
        description: 'At most 8 KiB. Unknown fields are refused.',
        content: {
          'application/json': {
            schema: logInSchema,
            examples: {
              author: { value: { email: example.userSession.user.email, password: example.password } },
            },
          },
        },
      },
      responses: {
        200: jsonResponse(
          'The session.',
          userSession,
          {
            ...forUsers,
            'Set-Cookie': z.string().meta({ description: 'The cookie of the session, and its signature.' }),
          },
          { session: { value: example.userSession } },
        ),
        ...limitedFailures(
          {
            401: {
              when: 'There is no such user, the user is disabled, or the password is another one.',
              texts: ['Email or password is wrong'],
            },
            403: foreign,
            413: { when: 'The body is over 8 KiB.', texts: ['Request body must be at most 8192 bytes'] },
            422: {
              when: 'The body is no JSON sent as `application/json`, or a field is missing or unknown.',
              texts: [
                'Request body must be valid JSON',
                'Request body must be an object with email and password',
                'email is required',
                'password must be a string',
              ],
            },
            429: {
              when: 'The limit of requests a minute is reached, or that of failed log-ins in 15 minutes.',
              texts: [
                'Too many requests; try again in 42 seconds',
                'Too many log-in attempts; try again later',
              ],
            },
            500: unexpected,
          },
          forUsers,
        ),
      },
    },
    get: {
      operationId: 'getSession',
      tags: ['Users'],
      summary: 'Tell who is logged in',
      security: withSession,
      responses: {
        200: jsonResponse('The session.', userSession, forUsers, { session: { value: example.userSession } }),
        ...limitedFailures(
          {
            401: { when: 'There is no session, or it has ended.', texts: ['Authentication failed'] },
            500: unexpected,
          },
          forUsers,
        ),
      },
    },
    delete: {
      operationId: 'logOut',
      tags: ['Users'],
      summary: 'Log out',
      description: 'Ends the session everywhere and at once. Without a session nothing happens.',
      security: withOrWithoutSession,
      responses: {
        204: {
          description: 'There is no session any more.',
          headers: asHeaders({
            ...forUsers,
            'Set-Cookie': z.string().meta({ description: 'Removes the cookie and its signature.' }),
          }),
        },
        ...limitedFailures({ 403: foreign, 500: unexpected }, forUsers),
      },
    },
  },
};
