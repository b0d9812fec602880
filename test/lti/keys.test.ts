import { importJWK, jwtVerify, SignJWT } from 'jose';
import type { JWK } from 'jose';
import { beforeEach, describe, expect, test } from 'vitest';
import { createLtiKeys } from '../../shared/lti/keys.ts';
import type { LtiKeys } from '../../shared/lti/keys.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { testPepper } from '../support/harness.ts';
import { useHarness } from '../support/use.ts';

const harness = useHarness();
beforeEach(() => harness.db.ltiKeys.deleteMany());

const dayMs = 24 * 3600_000;

/** A process at a time that the test sets. */
function startProcess(clock: { days: number }, keyPepper = testPepper): LtiKeys {
  return createLtiKeys(harness.db, { keyPepper }, () => new Date(Date.UTC(2027, 0) + clock.days * dayMs));
}

const one = 'the key set of one platform';
const kidsOf = async (keys: LtiKeys, keySetId = one) =>
  (await keys.publicKeys(keySetId))?.keys.map(({ kid }) => kid) ?? [];
const signerOf = async (keys: LtiKeys, keySetId = one) => (await keys.signer(keySetId)).kid;

describe("Lectern's signing keys", () => {
  test('the published key verifies what Lectern signs, and no private key is published or readable in the database', async () => {
    const keys = startProcess({ days: 0 });
    const { kid, privateKey } = await keys.signer(one);
    const [published] = (await keys.publicKeys(one))?.keys ?? [];
    expect(published).toMatchObject({ kid, kty: 'RSA', alg: 'RS256', use: 'sig' });
    expect(Buffer.from(published?.n ?? '', 'base64url')).toHaveLength(2048 / 8);
    const token = await new SignJWT({ sub: 'x' }).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey);
    await expect(jwtVerify(token, await importJWK(published as JWK))).resolves.toBeTruthy();
    expect(Object.keys(published ?? {}).toSorted()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use']);
    const [stored] = await harness.db.ltiKeys.find().lean();
    expect(Buffer.from(stored?.privateJwk ?? '', 'base64').toString('latin1')).not.toContain('RSA');
    expect(stored?.publicJwk).not.toContain('"d"');
  });

  test('processes that start, or need a successor, at the same time agree on one key', async () => {
    const start = (days: number) => [startProcess({ days }), startProcess({ days })];
    expect(new Set(await Promise.all(start(0).map((keys) => signerOf(keys)))).size).toBe(1);
    const published = await Promise.all(start(90).map((keys) => kidsOf(keys)));
    expect(new Set(published.flat()).size).toBe(2);
    expect(await harness.db.ltiKeys.countDocuments()).toBe(2);
  });

  test('a process that runs for half a year rotates keys without interruption', async () => {
    const clock = { days: 0 };
    const keys = startProcess(clock);
    await signerOf(keys);
    const platform = { kids: await kidsOf(keys) };
    const signers = new Map<string, number>();
    for (; clock.days < 185; clock.days += 1) {
      const signer = await signerOf(keys);
      // The process checks once a day, and has to verify a token signed up to a week ago.
      expect(platform.kids).toContain(signer);
      platform.kids = await kidsOf(keys);
      for (const [kid, last] of signers) {
        if (clock.days - last <= 7) expect(platform.kids).toContain(kid);
      }
      signers.set(signer, clock.days);
      expect(platform.kids.length).toBeLessThanOrEqual(2);
    }
    expect(signers.size).toBe(3);
    expect(await harness.db.ltiKeys.countDocuments()).toBe(2);
  });

  test('an error names another pepper as the reason why a key is unreadable; the public keys stay', async () => {
    const first = await signerOf(startProcess({ days: 0 }));
    const other = startProcess({ days: 0 }, 'another pepper that is long enough, too');
    await expect(other.signer(one)).rejects.toMatchObject({
      code: 'INTERNAL_ERROR',
      message: expect.stringMatching(/LECTERN_KEY_PEPPER.*empty the collection ltiKeys/s) as string,
    });
    expect(await kidsOf(other)).toEqual([first]);
  });

  test('each platform has a key of its own, which no other platform gets, and anyone may ask for any key set', async () => {
    const keys = startProcess({ days: 0 });
    const [first, second] = [await signerOf(keys), await signerOf(keys, 'another')];
    expect(await kidsOf(keys)).toEqual([first]);
    expect(await kidsOf(keys, 'another')).toEqual([second]);
    expect(await keys.publicKeys('unknown')).toBeNull();
    expect(await harness.db.ltiKeys.countDocuments()).toBe(2);
  });

  test('the key set of a removed platform does not come back when anyone asks for it', async () => {
    const clock = { days: 0 };
    const keys = startProcess(clock);
    await signerOf(keys);
    await harness.db.ltiKeys.deleteMany();
    clock.days += 1;
    expect(await keys.publicKeys(one)).toBeNull();
    expect(await harness.db.ltiKeys.countDocuments()).toBe(0);
  });

  test("a private key copied into another key's row, or into another key set, cannot be decrypted", async () => {
    await signerOf(startProcess({ days: 0 }));
    await signerOf(startProcess({ days: 90 }));
    const [newer, older] = await harness.db.ltiKeys.find().sort({ generation: -1 }).lean();
    await harness.db.ltiKeys.updateOne({ _id: older?._id }, { privateJwk: newer?.privateJwk });
    await expect(startProcess({ days: 90 }).signer(one)).rejects.toThrow('LECTERN_KEY_PEPPER');
    await harness.db.ltiKeys.updateOne({ _id: newer?._id }, { keySetId: 'another' });
    await expect(startProcess({ days: 90 }).signer('another')).rejects.toThrow('LECTERN_KEY_PEPPER');
  });
});

test('/lti/jwks/ID publishes the keys of one platform without authentication, cacheable for an hour', async () => {
  const address = await harness.startApi();
  await createLtiKeys(harness.db, { keyPepper: testPepper }).signer('one-platform');
  const url = `${address}/lti/jwks/one-platform`;
  const answer = await ask(url);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('public, max-age=3600');
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  const { keys } = jsonOf(answer) as { keys: JWK[] };
  expect(keys).toEqual([expect.objectContaining({ kty: 'RSA', use: 'sig', alg: 'RS256' })]);
  expect((await ask(url, { method: 'HEAD' })).status).toBe(200);
  expect((await ask(url, { method: 'OPTIONS' })).status).toBe(204);
  expect((await ask(url, { method: 'POST' })).status).toBe(405);
  expect((await ask(`${address}/lti/jwks/another-platform`)).status).toBe(404);
  expect((await ask(`${address}/lti/jwks`)).status).toBe(404);
});
