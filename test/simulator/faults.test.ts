import { expect, test } from 'vitest';
import { scope } from '../../simulator/vocabulary.ts';
import { useSimulatorLab } from './simulator-lab.ts';

const lab = useSimulatorLab();

const askKeys = async () => (await fetch(lab.simulator.addresses.jwks)).status;

test('a service fails as often as it was told to, in the order it was told', async () => {
  lab.simulator.fail('jwks', { status: 503, times: 2, headers: { 'retry-after': '7' }, body: 'closed' });
  lab.simulator.fail('jwks', { status: 429 });
  const first = await fetch(lab.simulator.addresses.jwks);
  expect([first.status, first.headers.get('retry-after'), await first.text()]).toStrictEqual([
    503,
    '7',
    'closed',
  ]);
  expect([await askKeys(), await askKeys(), await askKeys()]).toStrictEqual([503, 429, 200]);
});

test('a service that fails without end is healed', async () => {
  lab.simulator.fail('jwks', { status: 500, times: Infinity });
  expect([await askKeys(), await askKeys()]).toStrictEqual([500, 500]);
  lab.simulator.heal('jwks');
  expect(await askKeys()).toBe(200);
});

test('a connection is dropped, or never answered', async () => {
  lab.simulator.fail('jwks', { drop: true });
  await expect(askKeys()).rejects.toThrow('fetch failed');
  lab.simulator.fail('jwks', { hang: true });
  const impatient = fetch(lab.simulator.addresses.jwks, { signal: AbortSignal.timeout(200) });
  await expect(impatient).rejects.toThrow('timeout');
  lab.simulator.fail('jwks', { delayMs: 30 });
  expect(await askKeys()).toBe(200);
});

function scoreRequest() {
  const { simulator, scripted } = lab;
  const [item] = simulator.lineItemsOf(scripted.link({ lineItem: { label: 'Tides', scoreMaximum: 1 } }));
  if (item === undefined) throw new Error('no line item');
  return { item, send: () => scripted.sendScore(item, { userId: simulator.sample.users.learner.id }) };
}

test('a score is kept whose answer is lost, and none whose request is', async () => {
  const { item, send } = scoreRequest();
  lab.simulator.fail('scores', { drop: true });
  await expect(send()).rejects.toThrow('fetch failed');
  expect(lab.simulator.scoresOf(item)).toStrictEqual([]);
  lab.simulator.fail('scores', { status: 500, afterwards: true });
  expect((await send()).status).toBe(500);
  expect(lab.simulator.scoresOf(item)).toHaveLength(1);
});

test('tokens that are revoked are good no longer', async () => {
  const { simulator, scripted } = lab;
  const { item } = scoreRequest();
  const headers = { authorization: `Bearer ${await scripted.token(scope.lineItem)}` };
  expect((await fetch(simulator.addressOf(item), { headers })).status).toBe(200);
  simulator.revokeTokens();
  expect((await fetch(simulator.addressOf(item), { headers })).status).toBe(401);
});

test('the key is rotated, and the old one published or not', async () => {
  const kids = async () => {
    const { keys } = (await (await fetch(lab.simulator.addresses.jwks)).json()) as {
      keys: { kid: string }[];
    };
    return keys.map(({ kid }) => kid);
  };
  const [before] = await kids();
  const second = await lab.simulator.rotateKey();
  expect(await kids()).toStrictEqual([before, second]);
  const third = await lab.simulator.rotateKey({ keepOld: false });
  expect(await kids()).toStrictEqual([third]);
});

test('every request is written down, with what became of it', async () => {
  lab.simulator.fail('jwks', { drop: true });
  await expect(askKeys()).rejects.toThrow();
  await askKeys();
  const [dropped, answered] = lab.simulator.requests.slice(-2);
  expect(dropped).toMatchObject({ method: 'GET', path: '/jwks', status: null });
  expect(answered).toMatchObject({ method: 'GET', path: '/jwks', status: 200 });
});
