import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProcesses } from '../../cli/installation/processes.ts';
import { subscribableEvents } from '../../shared/events/event-types.ts';
import { createOrganization } from '../../shared/models/organization.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { importPackage } from '../../shared/packages/import.ts';
import { publishVersion } from '../../shared/publishing/publishing.ts';
import { signEmbedToken } from '../../shared/tokens/player-tokens.ts';
import { createWebhook } from '../../shared/webhooks/manage.ts';
import { writeSampleLesson } from '../api/sample.ts';
import { startCheckout } from '../installation.ts';
import type { BenchInstallation } from '../installation.ts';
import { median } from '../rounds.ts';

const learners = 32;
const writesEach = 40;

interface Tenant {
  organizationId: string;
  lessonId: string;
  versionId: string;
}

/**
 * Measures writes in turns: each learner answers, moves on and finishes, as fast as responses arrive. With a webhook, the
 * time ends when the last event was delivered.
 */
export async function measureWrites(
  installation: BenchInstallation,
  { rounds, otherCheckout }: { rounds: number; otherCheckout: string | undefined },
): Promise<void> {
  const { db, secrets, servers, config, settings } = installation;
  const without = await buildTenant(installation, 'without-webhooks');
  const withWebhook = await buildTenant(installation, 'with-webhook');
  const types = [...subscribableEvents];
  const receiver = await startReceiver();
  const webhook = { url: receiver.url, types, description: '' };
  await createWebhook(db, secrets.keyPepper, withWebhook.organizationId, webhook);
  const processes = await startProcesses(config, servers, { workers: 1, settings });
  const other = otherCheckout === undefined ? null : await startCheckout(installation, otherCheckout);
  const contenders = [
    ...(other === null ? [] : [{ name: `the API of ${otherCheckout}`, url: other.url, tenant: without }]),
    { name: 'no webhook', url: processes.url, tenant: without },
    { name: 'a webhook that gets all events', url: processes.url, tenant: withWebhook },
  ];
  const rates = new Map<string, number[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    // Contenders take turns beginning a round, because writes that follow an API's own are slower than others.
    const first = round % contenders.length;
    for (const { name, url, tenant } of [...contenders.slice(first), ...contenders.slice(0, first)]) {
      const started = performance.now();
      await writeAll(url, tenant, secrets.signing);
      while (await isDelivering(db)) await sleep(20);
      const rate = (learners * writesEach) / ((performance.now() - started) / 1000);
      if (round > 0) rates.get(name)?.push(rate);
    }
  }
  console.log(`\nwrites of ${learners} learners, Node ${process.version}, medians of ${rounds} rounds`);
  const baseline = rates.get(contenders[0]?.name ?? '') ?? [];
  for (const [name, list] of rates) {
    const ratios = list.map((rate, round) => rate / (baseline[round] ?? NaN)).toSorted((a, b) => a - b);
    const [low = NaN, high = NaN] = [0.25, 0.75].map((share) => ratios[Math.floor(ratios.length * share)]);
    console.log(
      `  ${name.padEnd(40)} ${median(list).toFixed(0).padStart(6)} per second  ${median(ratios).toFixed(3)} ` +
        `(quartiles ${low.toFixed(3)} to ${high.toFixed(3)})`,
    );
  }
  other?.stop();
  await processes.stop();
  receiver.stop();
}

async function buildTenant(installation: BenchInstallation, slug: string): Promise<Tenant> {
  const { db, store, config, folder } = installation;
  const organization: Organization = await createOrganization(db, { slug, name: slug, plan: 'edtech' });
  const path = join(folder, slug);
  await writeSampleLesson(path, { steps: 4, wordsPerStep: 40 });
  const options = { asNew: true, signal: new AbortController().signal };
  const { version } = await importPackage({ db, store, config }, organization, path, options);
  await publishVersion(db, store, version._id, { force: false });
  return { organizationId: organization._id, lessonId: version.lessonId, versionId: version._id };
}

/** Starts a receiver of webhooks. */
async function startReceiver(): Promise<{ url: string; stop: () => void }> {
  const server = createServer((arrived, response) => {
    arrived.resume();
    arrived.once('end', () => response.writeHead(204).end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => server.close().closeAllConnections(),
  };
}

/** Returns whether events wait, except those that a learner causes once a minute. */
async function isDelivering({ eventDeliveries }: BenchInstallation['db']): Promise<boolean> {
  const waiting = { kind: 'webhook', state: 'waiting', type: { $ne: 'progress.updated' } } as const;
  return (await eventDeliveries.exists(waiting)) !== null;
}

/** Writes for all learners at once. */
async function writeAll(
  url: string,
  { organizationId, lessonId, versionId }: Tenant,
  signing: BenchInstallation['secrets']['signing'],
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: learners });
  await Promise.all(
    Array.from({ length: learners }, async () => {
      const claims = {
        organizationId,
        lessonId,
        versionId: null,
        learnerId: randomUUID(),
        userAttributes: '{}',
      };
      const { token } = signEmbedToken(signing, claims, 600);
      const path = `${url}/api/public/lessons/${lessonId}/session?token=${token}`;
      for (let revision = 0; revision < writesEach; revision += 1) {
        await post(agent, path, writeOf(versionId, revision));
      }
    }),
  );
  agent.destroy();
}

/** Each fourth write answers another question; the last one completes the lesson. */
function writeOf(versionId: string, revision: number): string {
  const step = Math.floor(revision / 10);
  const isLast = revision === writesEach - 1;
  return JSON.stringify({
    versionId,
    writeId: randomUUID(),
    currentSectionIndex: 0,
    currentStepIndex: step,
    progressData: { seen: revision },
    ...(revision % 4 === 0 && { items: [{ widgetId: `MultipleChoice-${step}`, answer: ['choice-1'] }] }),
    ...(isLast && { completed: true }),
  });
}

function post(agent: Agent, url: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.once('end', () =>
        response.statusCode === 200 ? resolve() : reject(new Error(`status ${response.statusCode ?? ''}`)),
      );
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
