import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { issueApiKey, rotateApiKey } from '../../shared/models/api-key.ts';
import { ask, expectFailure, notFound, unauthorized } from '../support/answers.ts';
import { buildOrganization, exportPath } from '../support/factories.ts';
import { testPepper } from '../support/harness.ts';
import { useApi } from '../support/use.ts';

const api = useApi();

/** Requests a version that does not exist: valid credentials get 404, invalid ones 401. */
const askWith = (headers: Record<string, string>) =>
  ask(api.url + exportPath({ lessonId: randomUUID(), _id: randomUUID() }), { headers });

const askAs = ({ publicKey, secretKey }: { publicKey: string; secretKey: string }) =>
  askWith({ authorization: `Bearer ${publicKey}.${secretKey}` });

test('a valid key is accepted, whatever the case and spacing of the scheme, but not from a cookie', async () => {
  expectFailure(await askWith(api.headers), notFound);
  expectFailure(await askWith({ authorization: `bearer  ${api.credentials}` }), notFound);
  expectFailure(await askWith({ cookie: `authorization=Bearer ${api.credentials}` }), unauthorized);
});

test('a rotated key works beside its successor during the overlap, and no longer', async () => {
  const key = { organizationId: api.organization._id, label: null, expiresAt: null };
  const old = await issueApiKey(api.db, testPepper, key);
  const successor = await rotateApiKey(api.db, testPepper, old.publicKey, 3600);
  if (successor === null) throw new Error('The key was not rotated');
  expectFailure(await askAs(old), notFound);
  expectFailure(await askAs(successor), notFound);

  await rotateApiKey(api.db, testPepper, old.publicKey, 0);
  expectFailure(await askAs(old), unauthorized);
  expectFailure(await askAs(successor), notFound);
  expect((await api.db.apiKeys.findById(old.publicKey).lean())?.lastUsedAt).not.toBeNull();
});

test('a key of a deleted organization gets 401', async () => {
  const { organization, headers } = await buildOrganization(api);
  await api.db.organizations.deleteOne({ _id: organization._id });
  expectFailure(await askWith(headers), unauthorized);
});
