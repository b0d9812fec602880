import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { User } from '../../shared/models/user.ts';
import { startRedis } from '../../shared/embedded/redis.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, jsonOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { startApiProcess } from '../support/api-process.ts';
import { buildUser, logIn, openSession, postSession, quickHash } from './users.ts';

let harness: Harness;
let address: string;

beforeAll(async () => {
  // With TRUST_PROXY each test comes from addresses of its own.
  harness = await startHarness({ LOGIN_TRIES: '3', TRUST_PROXY: '1' });
  address = await harness.startApi();
});
afterAll(() => harness.close());

/** Whose password is quickly looked at: what is counted does not depend on it. */
const buildGuessed = () => buildUser(harness, { passwordHash: quickHash });

const from = (client: string) => ({ 'x-forwarded-for': client });
const guess = ({ email }: Pick<User, 'email'>, client: string, of = address) =>
  postSession(of, { email, password: 'a wrong password' }, from(client));

async function statusesOf(answers: Promise<Answer>[]): Promise<number[]> {
  return (await Promise.all(answers)).map(({ status }) => status).sort();
}

function expectThrottled(answer: Answer): void {
  expect({ status: answer.status, body: jsonOf(answer) }).toStrictEqual({
    status: 429,
    body: { error: 'Too many log-in attempts; try again later' },
  });
  const seconds = Number(answer.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(14 * 60);
  expect(seconds).toBeLessThanOrEqual(15 * 60);
}

describe('log-ins for one account from one address', () => {
  test('are refused after LOGIN_TRIES wrong ones, the right password too', async () => {
    const { user } = await buildGuessed();
    for (const status of [401, 401, 401]) expect((await guess(user, '192.0.2.1')).status).toBe(status);
    expectThrottled(await guess(user, '192.0.2.1'));
    expectThrottled(await logIn(address, user, from('192.0.2.1')));
    expectThrottled(await guess({ email: ` ${user.email.toUpperCase()}` }, '192.0.2.1'));
  });

  test('lock nobody out who comes from elsewhere, and no other account', async () => {
    const [{ user }, { user: other }] = [await buildGuessed(), await buildGuessed()];
    for (let tries = 0; tries < 4; tries += 1) await guess(user, '192.0.2.2');
    expect((await logIn(address, user, from('192.0.2.3'))).status).toBe(200);
    expect((await logIn(address, other, from('192.0.2.2'))).status).toBe(200);
  });

  test('count anew after one that was right', async () => {
    const { user } = await buildGuessed();
    for (let round = 0; round < 2; round += 1) {
      for (const status of [401, 401]) expect((await guess(user, '192.0.2.4')).status).toBe(status);
      expect((await logIn(address, user, from('192.0.2.4'))).status).toBe(200);
    }
  });

  test('are counted together in all processes, and before a password is looked at', async () => {
    const other = await startApiProcess(harness);
    onTestFinished(async () => void (await other.end()));
    const { user } = await buildGuessed();
    const guesses = Array.from({ length: 8 }, (_, index) =>
      guess(user, '192.0.2.5', index % 2 === 0 ? address : other.address),
    );
    expect(await statusesOf(guesses)).toStrictEqual([401, 401, 401, 429, 429, 429, 429, 429]);
  });

  test('are counted for accounts that do not exist as well, and the same for all of an IPv6 network', async () => {
    const nobody = { email: 'nobody@example.com' };
    const guesses = ['::1', '::2', ':a::', ':b::1'].map((end) => guess(nobody, `2001:db8:1:2${end}`));
    expect(await statusesOf(guesses)).toStrictEqual([401, 401, 401, 429]);
    expect((await guess(nobody, '2001:db8:1:3::1')).status).toBe(401);
  });
});

test('log-ins from one address are refused after ten times as many, for whatever accounts; a right one does not clear them', async () => {
  const strict = await harness.startApi({ LOGIN_TRIES: '1' });
  const guessFor = (email: string) => guess({ email: `${email}@example.com` }, '192.0.2.6', strict);
  const { user } = await buildUser(harness);
  const guesses = Array.from({ length: 9 }, (_, index) => guessFor(`u${index}`));
  expect(await statusesOf(guesses)).toStrictEqual(Array.from({ length: 9 }, () => 401));
  expect((await logIn(strict, user, from('192.0.2.6'))).status).toBe(200);
  expect((await guessFor('v1')).status).toBe(401);
  expectThrottled(await guessFor('v2'));
  expectThrottled(await logIn(strict, user, from('192.0.2.6')));
});

test('while Redis is away nobody logs in: 500, and when to try again; afterwards sessions go on', async () => {
  let redis = await startRedis();
  onTestFinished(() => redis.stop());
  const own = await startHarness({ REDIS_URL: redis.url });
  onTestFinished(() => own.close());
  const at = await own.startApi();
  const { user } = await buildUser(own);
  const session = await openSession(at, user);

  redis.kill();
  await redis.exited;
  const refused = [
    await logIn(at, user),
    await ask(`${at}/api/session`, { headers: session }),
    await ask(`${at}/api/session`, { method: 'DELETE', headers: session }),
    await ask(`${at}/api/lessons`, { headers: session }),
  ];
  for (const answer of refused) {
    expect({ status: answer.status, body: jsonOf(answer) }).toStrictEqual({
      status: 500,
      body: { error: 'An unexpected error occurred' },
    });
    expect(answer.headers.get('retry-after')).toBe('10');
    expect(answer.headers.getSetCookie()).toStrictEqual([]);
  }
  // Nothing is asked of Redis without a cookie.
  expect((await ask(`${at}/api/session`)).status).toBe(401);

  redis = await startRedis({ port: redis.port });
  await waitFor('a log-in after Redis is back', async () => (await logIn(at, user)).status === 200);
});
