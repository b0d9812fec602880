import { expect, test } from 'vitest';
import { withPathSuffix } from '../../cli/simulator/service-address.ts';
import { mediaType, scope } from '../../cli/simulator/vocabulary.ts';
import { useSimulatorLab } from './support/simulator.ts';

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

async function scoreRequest() {
  const { simulator, scripted } = lab;
  const link = scripted.link({ lineItem: { label: 'Tides', scoreMaximum: 1 } });
  const [item] = simulator.lineItemsOf(link);
  if (item === undefined) throw new Error('no line item');
  const init = {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await scripted.token(scope.score)}`,
      'content-type': mediaType.score,
    },
    body: JSON.stringify({
      userId: simulator.sample.users.learner.id,
      timestamp: new Date().toISOString(),
      activityProgress: 'Started',
      gradingProgress: 'Pending',
    }),
  };
  return { item, send: () => fetch(withPathSuffix(simulator.addressOf(item), '/scores'), init) };
}

test('a score is kept whose answer is lost, and none whose request is', async () => {
  const { item, send } = await scoreRequest();
  lab.simulator.fail('scores', { drop: true });
  await expect(send()).rejects.toThrow('fetch failed');
  expect(lab.simulator.scoresOf(item)).toStrictEqual([]);
  lab.simulator.fail('scores', { status: 500, afterwards: true });
  expect((await send()).status).toBe(500);
  expect(lab.simulator.scoresOf(item)).toHaveLength(1);
});

test('tokens that are revoked are good no longer', async () => {
  const { send } = await scoreRequest();
  lab.simulator.revokeTokens();
  expect((await send()).status).toBe(401);
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
