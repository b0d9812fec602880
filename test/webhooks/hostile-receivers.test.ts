import { randomUUID } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import { beforeAll, expect, test } from 'vitest';
import type { ClaimedDelivery } from '../../shared/models/event-delivery.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { testPepper } from '../support/harness.ts';
import type { Behavior } from '../support/origin.ts';
import { redirectTo, reset, stream } from '../support/origin.ts';
import { expectError } from '../support/answers.ts';
import { useApi } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { webhookFormat } from '../../worker/deliveries/webhooks.ts';
import { useReceiver } from './receiver.ts';
import { Webhooks } from './webhooks-client.ts';
import type { Delivery } from './webhooks-client.ts';

/* Receivers that attack Lectern or waste its time. This Lectern has a public URL, so that no private host is allowed. */

const receiver = useReceiver();
/** Gets no webhook. Attempts at the other one are repeated, and connect to it during later tests. */
const bystander = useReceiver();
const api = useApi(
  () => ({
    PUBLIC_URL: 'https://lessons.example',
    LECTERN_ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${receiver.port},127.0.0.1:${bystander.port}`,
  }),
  { worker: true },
);
let webhooks: Webhooks;
beforeAll(() => (webhooks = new Webhooks(api)));

/** Sends a ping, and returns the delivery after its first attempt. */
async function deliver(url: string): Promise<Delivery> {
  const { id } = await webhooks.create(url, ['progress.started']);
  await webhooks.expect(202, 'POST', `/${id}/test`);
  return waitFor('the attempt', async () =>
    (await webhooks.deliveries(id)).find(({ attempts }) => attempts.length > 0),
  );
}

const drip: Behavior = (_request, response) => {
  response.writeHead(200);
  const timer = setInterval(() => response.write('x'), 20);
  response.on('close', () => clearInterval(timer));
};

test.each<[string, Behavior, Partial<Delivery['attempts'][number]>, string]>([
  ['a redirect', redirectTo('http://169.254.169.254/'), { status: 302 }, 'pending'],
  ['an endless body', stream(), { status: 200, error: null }, 'delivered'],
  ['a dripping body', drip, { status: 200, error: null }, 'delivered'],
  ['a reset', reset(), { status: null, response: null }, 'pending'],
])('%s costs little: one request, and bounded time and memory', async (name, behavior, attempt, status) => {
  const path = `/${name.replaceAll(' ', '-')}`;
  receiver.script(path, behavior);
  const delivery = await deliver(receiver.url(path));
  expect(delivery.status).toBe(status);
  expect(delivery.attempts).toMatchObject([attempt]);
  expect(delivery.attempts[0]?.response?.length ?? 0).toBeLessThanOrEqual(4096);
  expect(receiver.received.filter((event) => event.path === path)).toHaveLength(1);
});

const privateUrls = ['https://169.254.169.254/latest/meta-data', 'https://localhost/'];
test.each(privateUrls)('%s is never connected to', async (url) => {
  const delivery = await deliver(url);
  expect(delivery).toMatchObject({
    status: 'pending',
    attempts: [{ status: null, error: expect.stringContaining('is not a public address') as string }],
  });
});

test('a receiver whose DNS records change gets no connection on this machine (DNS rebinding)', async () => {
  const { id } = await webhooks.create(`https://rebind.example:${bystander.port}/`, ['progress.started']);
  const records = [['93.184.215.14', '127.0.0.1'], ['127.0.0.1'], ['::ffff:127.0.0.1']];
  let lookups = 0;
  const lookup: LookupFunction = (_name, _options, callback) => {
    const addresses = records[lookups++] ?? [];
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  const { db, config } = api;
  const format = webhookFormat({
    ...{ db, config, lookup, secrets: { keyPepper: testPepper } },
    log: createLogger(config, 'test'),
  });
  const row = { _id: `evt_${randomUUID()}`, leaseId: randomUUID(), targetId: id, type: 'ping', body: '{}' };
  for (let attempt = 1; attempt <= records.length; attempt += 1) {
    const sent = format.send(row as ClaimedDelivery, new AbortController().signal);
    await expect(sent).rejects.toMatchObject({ reason: 'blocked_address' });
    // The addresses that were checked are those that would be connected to: there is no second lookup.
    expect(lookups).toBe(attempt);
  }
  expect(bystander.connections).toBe(0);
});

test('http is rejected, also to this machine', async () => {
  for (const url of ['http://127.0.0.1:1/', 'http://localhost/', 'http://example.com/']) {
    const answer = await webhooks.send('POST', '', { url, events: ['progress.started'] });
    expectError(answer, 422, 'url must begin with https://');
  }
});
