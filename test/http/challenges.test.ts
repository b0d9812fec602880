import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { generateCredentials } from '../../shared/accounts/credentials.ts';
import { issueApiKey, revokeApiKey } from '../../shared/models/api-key.ts';
import { buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { testPepper } from '../support/harness.ts';
import { ask, expectError, expectFailure, unauthorized } from '../support/answers.ts';
import { useApi } from '../support/use.ts';

const api = useApi();
let keys: Record<'good' | 'revoked' | 'expired' | 'unknown', { publicKey: string; secretKey: string }>;

beforeAll(async () => {
  const { organization } = await buildOrganization(api);
  const issue = (expiresAt: Date | null = null) =>
    issueApiKey(api.db, testPepper, { organizationId: organization._id, label: null, expiresAt });
  const [good, revoked, expired] = [await issue(), await issue(), await issue(new Date(0))];
  await revokeApiKey(api.db, revoked);
  keys = { good, revoked, expired, unknown: generateCredentials() };
});

const realm = 'Bearer realm="Lectern"';
const because = (text: string) => `${realm}, error="invalid_token", error_description="${text}"`;
const malformed = because('The credentials must have the form PUBLIC_KEY.SECRET_KEY');
const unknown = because('The public key is unknown or the secret key is wrong');

type Keys = typeof keys;
const of = (name: keyof Keys) => () => `Bearer ${keys[name].publicKey}.${keys[name].secretKey}`;
const withWrongSecret = (name: keyof Keys) => () =>
  `Bearer ${keys[name].publicKey}.${generateCredentials().secretKey}`;

test.each<[string, () => string | undefined, string]>([
  ['no header', () => undefined, realm],
  ['an empty header', () => '', realm],
  ['another scheme', () => `Basic ${btoa('a:b')}`, realm],
  ['the scheme alone', () => 'Bearer', malformed],
  ['another form', () => 'Bearer x.y', malformed],
  ['an unknown key', of('unknown'), unknown],
  ['a wrong secret', withWrongSecret('good'), unknown],
  ['a wrong secret of a revoked key', withWrongSecret('revoked'), unknown],
  ['a wrong secret of an expired key', withWrongSecret('expired'), unknown],
  ['a revoked key', of('revoked'), because('The credentials were revoked')],
  ['an expired key', of('expired'), because('The credentials have expired')],
])('%s: all responses have one body; the header has the reason', async (_what, authorization, expected) => {
  const sent = authorization();
  const headers: Record<string, string> = sent === undefined ? {} : { authorization: sent };
  for (const path of [`/api/public/lessons/${randomUUID()}/progress/l`, '/api/lessons']) {
    const answer = await ask(api.url + path, { headers });
    expectError(answer, 401, 'Authentication failed');
    expect(answer.headers.get('www-authenticate')).toBe(expected);
  }
  const exported = await ask(`${api.url}/api/lessons/${randomUUID()}/versions/${randomUUID()}/export-zip`, {
    headers,
  });
  expectFailure(exported, unauthorized);
  expect(exported.headers.get('www-authenticate')).toBe(expected);
});

test('a rejected learner token gets its reason in header and body', async () => {
  const organizationId = randomUUID();
  const lessonId = randomUUID();
  const expired = buildLearnerToken({ organizationId, lessonId }, { seconds: -1 });
  for (const [token, reason] of [
    [expired, 'Token expired'],
    ['x', 'Malformed token'],
  ]) {
    const answer = await ask(`${api.url}/api/public/lessons/${lessonId}/player-data?token=${token}`);
    expectError(answer, 401, `Token verification failed: ${reason}`);
    expect(answer.headers.get('www-authenticate')).toBe(because(reason ?? ''));
  }
});
