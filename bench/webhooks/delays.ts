import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createOrganization } from '../../shared/models/organization.ts';
import { createWebhook, maxWebhooks, testWebhook } from '../../shared/webhooks/manage.ts';
import type { BenchInstallation } from '../installation.ts';

const deadReceivers = 100;
const seconds = 90;

/** Measures how long events for a live receiver take beside many that do not respond, all of which get events. */
export async function measureDelays({ db, secrets }: BenchInstallation): Promise<void> {
  const arrivals = new Map<string, number>();
  const server = createServer((request, response) => {
    request.resume();
    // The others hang.
    if (request.url !== '/live') return;
    arrivals.set(String(request.headers['webhook-id']), Date.now());
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const live = deadReceivers;
  const organizationIds: string[] = [];
  for (let number = 0; number * (maxWebhooks - 1) <= deadReceivers; number += 1) {
    const slug = `delays-${number}`;
    organizationIds.push((await createOrganization(db, { slug, name: slug, plan: 'solo' }))._id);
  }
  const keys = await Promise.all(
    Array.from({ length: deadReceivers + 1 }, async (_, number) => {
      const organizationId = organizationIds[Math.floor(number / (maxWebhooks - 1))] ?? '';
      const path = number === live ? '/live' : `/dead-${number}`;
      const settings = { url: url + path, types: ['lesson.published' as const], description: '' };
      const { webhook } = await createWebhook(db, secrets.keyPepper, organizationId, settings);
      return { id: webhook._id, organizationId };
    }),
  );
  const sent = new Map<string, number>();
  for (let second = 0; second < seconds; second += 1) {
    await Promise.all(
      keys.map(async (key, number) => {
        const at = Date.now();
        const id = await testWebhook(db, key);
        if (number === live) sent.set(id, at);
      }),
    );
    await sleep(1000);
  }
  await sleep(3000);
  server.closeAllConnections();
  server.close();
  const delays = [...sent].flatMap(([id, at]) => {
    const arrived = arrivals.get(id);
    return arrived === undefined ? [] : [arrived - at];
  });
  const sorted = delays.toSorted((a, b) => a - b);
  const quantile = (share: number) => ((sorted[Math.floor(sorted.length * share)] ?? NaN) / 1000).toFixed(2);
  console.log(`\na live receiver beside ${deadReceivers} that do not respond, an event each per second`);
  console.log(`  ${delays.length} of ${sent.size} arrived; p50 ${quantile(0.5)} s, p95 ${quantile(0.95)} s`);
  console.log(`  the slowest took ${((sorted.at(-1) ?? NaN) / 1000).toFixed(2)} s`);
}
