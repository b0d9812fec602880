import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateCredentials } from '../../shared/accounts/credentials.ts';
import { issueApiKey, revokeApiKey, rotateApiKey } from '../../shared/models/api-key.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { buildOrganization, exportPath } from '../support/factories.ts';
import { startHarness, testPepper } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, expectFailure, notFound, unauthorized, wordsOf } from '../support/answers.ts';

let harness: Harness;
let address: string;
let organization: Organization;
let publicKey: string;
let secretKey: string;

beforeAll(async () => {
  harness = await startHarness();
  address = await harness.startApi();
  const built = await buildOrganization(harness);
  organization = built.organization;
  [publicKey, secretKey] = built.credentials.split('.') as [string, string];
});
afterAll(() => harness.close());

/** A version that does not exist: valid credentials get 404, invalid ones 401. */
const askWith = (headers: Record<string, string>) =>
  ask(address + exportPath({ lessonId: randomUUID(), _id: randomUUID() }), { headers });

const askAs = (credentials: string) => askWith({ authorization: `Bearer ${credentials}` });

async function issue(expiresAt: Date | null = null): Promise<{ publicKey: string; credentials: string }> {
  const key = await issueApiKey(harness.db, testPepper, {
    organizationId: organization._id,
    label: null,
    expiresAt,
  });
  return { publicKey: key.publicKey, credentials: `${key.publicKey}.${key.secretKey}` };
}

test.each<[string, () => Record<string, string>]>([
  ['no Authorization header', () => ({})],
  ['an empty Authorization header', () => ({ authorization: '' })],
  ['a scheme without credentials', () => ({ authorization: 'Bearer' })],
  ['the credentials without a scheme', () => ({ authorization: `${publicKey}.${secretKey}` })],
  ['another scheme', () => ({ authorization: `Token ${publicKey}.${secretKey}` })],
  ['Basic', () => ({ authorization: `Basic ${btoa(`${publicKey}:${secretKey}`)}` })],
  ['the public key alone', () => ({ authorization: `Bearer ${publicKey}` })],
  ['no secret after the dot', () => ({ authorization: `Bearer ${publicKey}.` })],
  ['a colon instead of the dot', () => ({ authorization: `Bearer ${publicKey}:${secretKey}` })],
  ['the keys swapped', () => ({ authorization: `Bearer ${secretKey}.${publicKey}` })],
  ['a third part', () => ({ authorization: `Bearer ${publicKey}.${secretKey}.x` })],
  ['an extra character', () => ({ authorization: `Bearer ${publicKey}.${secretKey}x` })],
  ['credentials in a cookie', () => ({ cookie: `authorization=Bearer ${publicKey}.${secretKey}` })],
  ['a MongoDB query operator', () => ({ authorization: 'Bearer {"$gt":""}.{"$gt":""}' })],
  [
    'an unknown public key',
    () => ({ authorization: `Bearer ${generateCredentials().publicKey}.${secretKey}` }),
  ],
  ['a wrong secret', () => ({ authorization: `Bearer ${publicKey}.${generateCredentials().secretKey}` })],
])('%s gets 401 with the documented message', async (_what, headersOf) => {
  expectFailure(await askWith(headersOf()), unauthorized);
});

test('the response does not reveal whether the key is unknown or the secret is wrong', async () => {
  const unknown = await askAs(`${generateCredentials().publicKey}.${secretKey}`);
  const wrong = await askAs(`${publicKey}.${generateCredentials().secretKey}`);
  expect(wordsOf(unknown)).toEqual(wordsOf(wrong));
  const names = ({ headers }: typeof wrong) => [...headers.keys()];
  expect(names(unknown)).toEqual(names(wrong));
});

test('the secret of another key of the same organization gets 401', async () => {
  const other = await issue();
  const [, otherSecret] = other.credentials.split('.');
  expectFailure(await askAs(`${publicKey}.${otherSecret}`), unauthorized);
});

test('a valid key is accepted, whatever the case and spacing of the scheme', async () => {
  expectFailure(await askAs(`${publicKey}.${secretKey}`), notFound);
  expectFailure(await askWith({ authorization: `bearer  ${publicKey}.${secretKey}` }), notFound);
});

test('a revoked key stops working at once', async () => {
  const key = await issue();
  expectFailure(await askAs(key.credentials), notFound);
  await revokeApiKey(harness.db, key.publicKey);
  expectFailure(await askAs(key.credentials), unauthorized);
});

test('a key works until its expiry, and no longer', async () => {
  expectFailure(await askAs((await issue(new Date(Date.now() + 60_000))).credentials), notFound);
  expectFailure(await askAs((await issue(new Date(Date.now() - 1))).credentials), unauthorized);
});

test('a rotated key works beside its successor during the overlap, and no longer', async () => {
  const old = await issue();
  const successor = await rotateApiKey(harness.db, testPepper, old.publicKey, 3600);
  if (successor === null) throw new Error('The key was not rotated');
  expectFailure(await askAs(old.credentials), notFound);
  expectFailure(await askAs(`${successor.publicKey}.${successor.secretKey}`), notFound);

  await rotateApiKey(harness.db, testPepper, old.publicKey, 0);
  expectFailure(await askAs(old.credentials), unauthorized);
  expectFailure(await askAs(`${successor.publicKey}.${successor.secretKey}`), notFound);
});

test('a key of a deleted organization gets 401', async () => {
  const { organization: gone, headers } = await buildOrganization(harness);
  await harness.db.organizations.deleteOne({ _id: gone._id });
  expectFailure(await askWith(headers), unauthorized);
});

test('the API records the last use of a key', async () => {
  const key = await issue();
  await askAs(key.credentials);
  const stored = await harness.db.apiKeys.findById(key.publicKey).lean();
  expect(Date.now() - Number(stored?.lastUsedAt)).toBeLessThan(60_000);
});
