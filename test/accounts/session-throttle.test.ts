import { describe, expect, onTestFinished, test } from 'vitest';
import type { User } from '../../shared/models/user.ts';
import { startOwnRedis } from '../support/servers.ts';
import { startHarness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, expectError } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { buildUser, logIn, openSession, postSession, quickHash } from './users.ts';
import { useApi } from '../support/use.ts';

// Each test uses IP addresses of its own.
const api = useApi({ LOGIN_TRIES: '3', TRUST_PROXY: '1' });

/** A user with a fast password hash, because the counts do not depend on it. */
const buildGuessed = () => buildUser(api, { passwordHash: quickHash });

const from = (client: string) => ({ 'x-forwarded-for': client });
const guess = ({ email }: Pick<User, 'email'>, client: string, of = api.url) =>
  postSession(of, { email, password: 'a wrong password' }, from(client));

async function statusesOf(answers: Promise<Answer>[]): Promise<number[]> {
  return (await Promise.all(answers)).map(({ status }) => status).sort();
}

function expectThrottled(answer: Answer): void {
  expectError(answer, 429, 'Too many login attempts; try again later');
  const seconds = Number(answer.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(14 * 60);
  expect(seconds).toBeLessThanOrEqual(15 * 60);
}

describe('logins for one account from one IP address', () => {
  test('get 429 after LOGIN_TRIES failures, even with the right password', async () => {
    const { user } = await buildGuessed();
    for (const status of [401, 401, 401]) expect((await guess(user, '192.0.2.1')).status).toBe(status);
    expectThrottled(await guess(user, '192.0.2.1'));
    expectThrottled(await logIn(api.url, user, from('192.0.2.1')));
    expectThrottled(await guess({ email: ` ${user.email.toUpperCase()}` }, '192.0.2.1'));
  });

  test('lock out neither other IP addresses nor other accounts', async () => {
    const [{ user }, { user: other }] = [await buildGuessed(), await buildGuessed()];
    for (let tries = 0; tries < 4; tries += 1) await guess(user, '192.0.2.2');
    expect((await logIn(api.url, user, from('192.0.2.3'))).status).toBe(200);
    expect((await logIn(api.url, other, from('192.0.2.2'))).status).toBe(200);
  });

  test('reset their count after a success', async () => {
    const { user } = await buildGuessed();
    for (const status of [401, 401]) expect((await guess(user, '192.0.2.4')).status).toBe(status);
    expect((await logIn(api.url, user, from('192.0.2.4'))).status).toBe(200);
    for (const status of [401, 401]) expect((await guess(user, '192.0.2.4')).status).toBe(status);
  });

  test('share one count over all APIs, checked before the password', async () => {
    const other = await api.startApi();
    const { user } = await buildGuessed();
    const guesses = Array.from({ length: 8 }, (_, index) =>
      guess(user, '192.0.2.5', index % 2 === 0 ? api.url : other),
    );
    expect(await statusesOf(guesses)).toStrictEqual([401, 401, 401, 429, 429, 429, 429, 429]);
  });

  test('are also counted for unknown accounts, and per network for IPv6', async () => {
    const unknown = { email: 'unknown@example.com' };
    const guesses = ['::1', '::2', ':a::', ':b::1'].map((end) => guess(unknown, `2001:db8:1:2${end}`));
    expect(await statusesOf(guesses)).toStrictEqual([401, 401, 401, 429]);
    expect((await guess(unknown, '2001:db8:1:3::1')).status).toBe(401);
  });
});

test('strangers with many IP addresses get 429 for one account, and lock the user only out of unknown browsers', async () => {
  const strict = await api.startApi({ LOGIN_TRIES: '1' });
  const [{ user }, { user: other }] = [await buildGuessed(), await buildGuessed()];
  const [own, foreign] = [await openSession(strict, user), await openSession(strict, other)];
  const guesses = Array.from({ length: 12 }, (_, index) => guess(user, `198.51.100.${index}`, strict));
  // The login counts as well.
  expect(await statusesOf(guesses)).toStrictEqual([...Array.from({ length: 9 }, () => 401), 429, 429, 429]);

  // The right password makes no difference, nor does another user's cookie, or one with another signature.
  const forged = { cookie: own.cookie.replace(/(lectern-browser\.sig=)./, '$1!') };
  for (const headers of [{}, foreign, forged])
    expectThrottled(await logIn(strict, user, { ...from('198.51.100.90'), ...headers }));
  const elsewhere = { ...from('198.51.100.91'), ...own };
  expect((await logIn(strict, user, elsewhere)).status).toBe(200);
  // A known browser has its own tries, wherever it is.
  const wrong = { email: user.email, password: 'a wrong password' };
  expect((await postSession(strict, wrong, elsewhere)).status).toBe(401);
  expectThrottled(await logIn(strict, user, { ...from('198.51.100.92'), ...own }));
  expect((await logIn(strict, other, from('198.51.100.93'))).status).toBe(200);
});

test('right passwords count too, so that one account cannot occupy the hashing for all', async () => {
  const strict = await api.startApi({ LOGIN_TRIES: '1' });
  const { user } = await buildGuessed();
  const session = await openSession(strict, user);
  const stranger = (index: number) => logIn(strict, user, from(`198.51.100.${index}`));
  const strangers = await Promise.all(Array.from({ length: 10 }, (_, index) => stranger(index)));
  expect(strangers.filter(({ status }) => status === 200)).toHaveLength(9);
  expectThrottled(strangers.find(({ status }) => status !== 200) as Answer);
  const change = (newPassword: string) =>
    ask(`${strict}/api/session/password`, {
      method: 'PUT',
      headers: { ...session, 'content-type': 'application/json' },
      body: JSON.stringify({ currentPassword: 'a wrong password', newPassword }),
    });
  // A new password that is not valid takes no hash, and counts as no try.
  for (const status of [422, 422]) expect((await change('short')).status).toBe(status);
  for (const status of [422, 429]) expect((await change('a good new password')).status).toBe(status);
});

test('log-ins from one IP address get 429 after ten times as many failures over all accounts; a success does not reset that', async () => {
  const strict = await api.startApi({ LOGIN_TRIES: '1' });
  const guessed = await Promise.all(Array.from({ length: 11 }, buildGuessed));
  const guessFor = (index: number) => guess(guessed[index]?.user ?? { email: '' }, '192.0.2.6', strict);
  const { user } = await buildUser(api);
  const guesses = Array.from({ length: 9 }, (_, index) => guessFor(index));
  expect(await statusesOf(guesses)).toStrictEqual(Array.from({ length: 9 }, () => 401));
  expect((await logIn(strict, user, from('192.0.2.6'))).status).toBe(200);
  expect((await guessFor(9)).status).toBe(401);
  expectThrottled(await guessFor(10));
  expectThrottled(await logIn(strict, user, from('192.0.2.6')));
});

test('without Redis every login gets 500 with a retry time; afterwards sessions continue', async () => {
  let redis = await startOwnRedis();
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
    expectError(answer, 500, 'An unexpected error occurred');
    expect(answer.headers.get('retry-after')).toBe('10');
    expect(answer.headers.getSetCookie()).toStrictEqual([]);
  }
  // Without a cookie the request needs no Redis.
  expect((await ask(`${at}/api/session`)).status).toBe(401);

  redis = await startOwnRedis(redis.port);
  await waitFor('a login after Redis is back', async () => (await logIn(at, user)).status === 200);
});
