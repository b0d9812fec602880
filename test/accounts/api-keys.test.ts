import { describe, expect, test } from 'vitest';
import type { Credentials } from '../../shared/accounts/credentials.ts';
import { authenticate, issueApiKey, revokeApiKey, rotateApiKey } from '../../shared/models/api-key.ts';
import type { ApiKey } from '../../shared/models/api-key.ts';
import { changeOrganization } from '../../shared/models/organization.ts';
import { buildOrganization } from '../support/factories.ts';
import { testPepper } from '../support/harness.ts';
import { useHarness } from '../support/use.ts';

const harness = useHarness();

const minute = 60_000;

async function buildKey(expiresAt: Date | null = null) {
  const { organization } = await buildOrganization(harness);
  const fields = { organizationId: organization._id, label: 'a label', expiresAt };
  return { organization, key: await issueApiKey(harness.db, testPepper, fields) };
}

function enter(credentials: Credentials) {
  return authenticate(harness.db, testPepper, credentials, '127.0.0.1');
}

async function stored({ publicKey }: Credentials): Promise<ApiKey> {
  const found = await harness.db.apiKeys.findById(publicKey).lean<ApiKey>();
  if (found === null) throw new Error(`There is no ${publicKey}`);
  return found;
}

describe('valid credentials identify their organization', () => {
  test('with its current plan', async () => {
    const { organization, key } = await buildKey();
    expect(await enter(key)).toMatchObject({ organization: { _id: organization._id, plan: 'edtech' } });
    await changeOrganization(harness.db, { slug: organization.slug }, { plan: 'solo' });
    expect(await enter(key)).toMatchObject({ organization: { _id: organization._id, plan: 'solo' } });
  });

  test('their secret is nowhere in the database', async () => {
    const { key } = await buildKey();
    expect(JSON.stringify(await stored(key))).not.toContain(key.secretKey.slice(4));
  });
});

test('the credentials of a deleted organization are unknown', async () => {
  const { organization, key } = await buildKey();
  await harness.db.organizations.deleteOne({ _id: organization._id });
  expect(await enter(key)).toMatchObject({ fault: 'unknown' });
});

test('the last-used time is written at most once a minute', async () => {
  const { key } = await buildKey();
  const used = async (secondsAgo: number) => {
    const lastUsedAt = new Date(Date.now() - secondsAgo * 1000);
    await harness.db.apiKeys.updateOne({ _id: key.publicKey }, { lastUsedAt });
    await enter(key);
    return { before: lastUsedAt, after: (await stored(key)).lastUsedAt };
  };
  await enter(key);
  expect((await stored(key)).lastUsedAt).not.toBeNull();
  const recent = await used(50);
  expect(recent.after).toStrictEqual(recent.before);
  const old = await used(60);
  expect(Number(old.after)).toBeGreaterThan(Number(old.before));
});

describe('rotation', () => {
  test('lets the old key work beside its successor for the overlap, and no longer', async () => {
    const { key } = await buildKey();
    const successor = await rotateApiKey(harness.db, testPepper, key, 3600);
    for (const one of [key, successor])
      expect(await enter(one as Credentials)).toHaveProperty('organization');
    await rotateApiKey(harness.db, testPepper, key, 0);
    expect(await enter(key)).toMatchObject({ fault: 'expired' });
  });

  test('never extends the expiry of the old key', async () => {
    const soon = new Date(Date.now() + minute);
    const { key } = await buildKey(soon);
    expect(await rotateApiKey(harness.db, testPepper, key, 3600)).not.toBeNull();
    expect((await stored(key)).expiresAt).toStrictEqual(soon);
  });

  test('gives no successor to a revoked or unknown key', async () => {
    const { organization, key } = await buildKey();
    await revokeApiKey(harness.db, key);
    expect(await rotateApiKey(harness.db, testPepper, key, 3600)).toBeNull();
    expect(await rotateApiKey(harness.db, testPepper, { publicKey: 'lkp_unknown' }, 3600)).toBeNull();
    expect(await harness.db.apiKeys.countDocuments({ organizationId: organization._id })).toBe(2);
  });
});
