import { join } from 'node:path';
import { Types } from 'mongoose';
import { startProcesses } from '../../cli/installation/processes.ts';
import { insertDeliveries } from '../../shared/models/event-delivery.ts';
import { seededId } from '../growth/seed.ts';
import { prepareInstallation } from '../installation.ts';
import { median } from '../rounds.ts';
import { seedRecords, writeQuiz } from './seed.ts';

/*
 * How long the console's lists take to open when they are long: their first pages, filtered, and far from the beginning.
 * Each list is read in turns with GET /api/organization, the baseline, which reads one document.
 */

const learners = Number(process.argv[3] ?? 1_000_000);
const rounds = Number(process.argv[4] ?? 9);
const lessons = 10_000;
const deliveries = 100_000;
const entries = 100_000;
const batchSize = 5_000;

const installation = await prepareInstallation();
const { folder, config, servers, settings, db, organization, authorization } = installation;
const organizationId = organization._id;
await writeQuiz(join(folder, 'lesson'));
const version = await installation.publish(join(folder, 'lesson'));
const { lessonId, _id: versionId } = version;
await seedRecords(db, { organizationId, lessonId, versionId }, learners);
await seedLessons();
const api = await startProcesses(config, servers, { workers: 0, settings });
const webhook = await createWebhook();
await seedDeliveries();
await seedAuditLog();

console.log(
  `${learners} learners, ${lessons} lessons, ${deliveries} deliveries, ${entries} audit log entries`,
);
const about = `/api/lessons/${lessonId}/learners`;
const lists: [name: string, path: string][] = [
  ['lessons', '/api/lessons?limit=50'],
  ['lessons, title found at the end', '/api/lessons?limit=50&title=Lesson%20000000'],
  ['lessons, title not found', '/api/lessons?limit=50&title=nowhere'],
  ['lessons, drafts (none)', '/api/lessons?limit=50&status=draft'],
  ['learners, newest', `${about}?order=newest&limit=50`],
  ['learners, completed', `${about}?order=newest&status=completed&limit=50`],
  ['learners, of platforms (none)', `${about}?order=newest&source=lti&limit=50`],
  ['learners, of a version', `${about}?order=newest&version=${versionId}&limit=50`],
  ['deliveries', '/api/deliveries?limit=50'],
  ['deliveries, failed (none)', '/api/deliveries?status=failed&limit=50'],
  ['deliveries of a learner', '/api/deliveries?learnerId=learner-77&limit=50'],
  ['deliveries of a webhook', `/api/webhooks/${webhook}/deliveries?limit=50`],
  ['audit log', '/api/audit?limit=50'],
  ['audit log, an action (none)', '/api/audit?limit=50&action=learner.erase'],
];
for (const [name, path] of lists) await measure(name, path);
await measure('learners, page 20', await pageAfter(`${about}?order=newest&limit=50`, 20));
await measure('deliveries, page 20', await pageAfter('/api/deliveries?limit=50', 20));
await api.stop();
await installation.remove();

async function measure(name: string, path: string): Promise<void> {
  const times: number[] = [];
  const baseline: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const [base, took] = [await timed('/api/organization'), await timed(path)];
    if (round === 0) continue;
    baseline.push(base);
    times.push(took);
  }
  const ratio = median(times) / median(baseline);
  console.log(
    `${name.padEnd(34)} ${median(times).toFixed(1).padStart(8)} ms, at most ${Math.max(...times).toFixed(1)}; ` +
      `${ratio.toFixed(2)} times the baseline`,
  );
}

async function timed(path: string): Promise<number> {
  const started = performance.now();
  await read(path);
  return performance.now() - started;
}

async function read(path: string): Promise<{ nextCursor: string | null }> {
  const response = await fetch(`${api.url}${path}`, { headers: { authorization } });
  if (response.status !== 200) throw new Error(`${path} got ${response.status}: ${await response.text()}`);
  return (await response.json()) as { nextCursor: string | null };
}

/** Returns the path of a later page of a list. */
async function pageAfter(path: string, pages: number): Promise<string> {
  let page = path;
  for (let turn = 0; turn < pages; turn += 1) {
    const { nextCursor } = await read(page);
    if (nextCursor === null) throw new Error(`${path} has fewer than ${pages} pages`);
    page = `${path}&cursor=${encodeURIComponent(nextCursor)}`;
  }
  return page;
}

async function inBatches(count: number, insert: (numbers: number[]) => Promise<unknown>): Promise<void> {
  for (let start = 0; start < count; start += batchSize) {
    const length = Math.min(batchSize, count - start);
    await insert(Array.from({ length }, (_, index) => start + index));
  }
}

/** Copies the lesson, the oldest of which is found last. */
async function seedLessons(): Promise<void> {
  const lesson = await db.lessons.collection.findOne({ _id: lessonId as never });
  const stored = await db.lessonVersions.collection.findOne({ _id: versionId as never });
  await inBatches(lessons, async (numbers) => {
    const idsOf = (number: number) => [seededId(`lesson ${number}`), seededId(`version ${number}`)] as const;
    await db.lessons.collection.insertMany(
      numbers.map((number) => {
        const createdAt = new Date(Date.UTC(2026, 0, 1) + number * 1000);
        const [_id] = idsOf(number);
        return { ...lesson, _id, slug: `lesson-${number}`, createdAt, updatedAt: createdAt };
      }) as never[],
    );
    await db.lessonVersions.collection.insertMany(
      numbers.map((number) => {
        const [ofLesson, _id] = idsOf(number);
        const title = `Lesson ${String(number).padStart(6, '0')}`;
        return { ...stored, _id, lessonId: ofLesson, title };
      }) as never[],
    );
  });
}

async function createWebhook(): Promise<string> {
  const response = await fetch(`${api.url}/api/webhooks`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'https://receiver.invalid/', events: ['progress.completed'] }),
  });
  if (response.status !== 201)
    throw new Error(`The webhook got ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { id: string }).id;
}

async function seedDeliveries(): Promise<void> {
  await inBatches(deliveries, async (numbers) => {
    const rows = numbers.map((number) => ({
      _id: `evt_${seededId(`delivery ${number}`)}`,
      kind: 'webhook' as const,
      ...{ organizationId, targetId: webhook, type: 'progress.completed', lessonId },
      ...{ learnerId: `learner-${number}`, platformId: null, eventAt: new Date(), body: '{}' },
    }));
    await insertDeliveries(db, rows);
  });
  await db.eventDeliveries.collection.updateMany({}, { $set: { state: 'idle', deliveredAt: new Date() } });
}

async function seedAuditLog(): Promise<void> {
  await inBatches(entries, (numbers) =>
    db.auditEntries.collection.insertMany(
      numbers.map((number) => ({
        ...{ _id: new Types.ObjectId(), organizationId, at: new Date(Date.UTC(2026, 0, 1) + number * 1000) },
        ...{ action: 'lesson.publish', actor: { type: 'key' as const, id: 'seeded' }, target: null },
        ...{ details: {}, ip: null, requestId: null },
      })),
    ),
  );
}
