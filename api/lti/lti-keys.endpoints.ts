import { z } from 'zod';
import { LecternError } from '../../shared/platform/errors.ts';
import { pathParam } from '../http/context.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { publicAccess } from '../http/public-access.ts';
import { failure, json } from '../http/responses.ts';
import type { LtiDependencies } from './dependencies.ts';

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

const unknownKeySet = 'Key set not found';

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

/** GET /lti/jwks/{keySetId}: the public keys with which one learning platform checks Lectern's signatures. */
export const getKeySet = defineEndpoint(
  {
    method: 'get',
    path: '/lti/jwks/:keySetId',
    access: publicAccess('GET, HEAD, OPTIONS'),
    errors: apiErrors(),
    laterParams: z.object({
      keySetId: z
        .string()
        .meta({ description: 'The key set of one platform, from `lectern platform invite` or `list`.' }),
    }),
    operationId: 'getKeySet',
    tag: 'LTI',
    summary: 'Fetch the public keys for a platform',
    description:
      'A learning platform checks the service’s signatures with these keys, which sign for no other platform. A new key is published a day before it signs, ' +
      'and stays for a month after it has signed for the last time.',
    responses: {
      200: json(
        'Current, future and recent keys.',
        keySet,
        { one: { value: keySetExample } },
        // An hour is safe, because a new key is published a day before it signs.
        { 'Cache-Control': z.literal('public, max-age=3600') },
      ),
      404: failure('There is no such key set.', unknownKeySet),
    },
  },
  ({ lti }: { lti: Pick<LtiDependencies['lti'], 'keys'> }) =>
    async ({ ctx }) => {
      const keys = await lti.keys.publicKeys(pathParam(ctx, 'keySetId') ?? '');
      if (keys === null) throw new LecternError('NOT_FOUND', unknownKeySet);
      return { status: 200, body: keys };
    },
);
