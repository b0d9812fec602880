import { z } from 'zod';
import { defineEndpoint } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { publicAccess } from '../http/public-access.ts';
import { json } from '../http/responses.ts';
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

/** GET /lti/jwks: the public keys with which learning platforms check Lectern's signatures. */
export const getKeySet = defineEndpoint(
  {
    method: 'get',
    path: '/lti/jwks',
    access: publicAccess('GET, HEAD, OPTIONS'),
    errors: apiErrors(),
    operationId: 'getKeySet',
    tag: 'LTI',
    summary: 'Fetch the public keys of this service',
    description:
      'Learning platforms check the service’s signatures with these keys. A new key is published a day before it signs, ' +
      'and stays for a month after it has signed for the last time.',
    responses: {
      200: json(
        'Current, future and recent keys.',
        keySet,
        { one: { value: keySetExample } },
        // An hour is safe, because a new key is published a day before it signs.
        { 'Cache-Control': z.literal('public, max-age=3600') },
      ),
    },
  },
  ({ lti }: { lti: Pick<LtiDependencies['lti'], 'keys'> }) =>
    async () => ({ status: 200, body: await lti.keys.publicKeys() }),
);
