import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { AuditLog } from '../../shared/audit/audit-log.ts';
import type { NewAuditEntry } from '../../shared/audit/audit-log.ts';
import { erasuresInTurn, requestErasure } from '../../shared/erasure/erase.ts';
import { buildIndexes, openDatabase } from '../../shared/models/database.ts';
import type { Database } from '../../shared/models/database.ts';
import { createStore } from '../../shared/storage/create-store.ts';
import { noLastUses } from '../../shared/storage/store.ts';
import { writeSampleLesson } from '../api/sample.ts';
import { learnerOf, seedProgress } from '../growth/seed.ts';
import { prepareInstallation } from '../installation.ts';
import { median } from '../rounds.ts';

/*
 * Measures erasures among many learners, with those among few as the baseline, and the audit log, with an insert for
 * each entry as the baseline.
 */

const rounds = Number(process.argv[3] ?? 20);
const sizes = (process.argv[4] ?? '10000,1000000').split(',').map(Number);
const auditedReads = Number(process.argv[5] ?? 20_000);
const lessons = 10_000;

const installation = await prepareInstallation();
const { folder, config, servers, secrets, organization } = installation;
const pepper = secrets.keyPepper;
await writeSampleLesson(join(folder, 'lesson'), { steps: 4, wordsPerStep: 40 });
const version = await installation.publish(join(folder, 'lesson'));
const store = await createStore(config, noLastUses);
const databases = new Map<number, Database>();
for (const records of sizes) databases.set(records, await seeded(records));
console.log(`Node ${process.version}, medians of ${rounds} rounds`);
await measureErasures();
await measureAudit();
for (const db of databases.values()) await db.connection.close();
await installation.remove();

async function seeded(records: number): Promise<Database> {
  const url = new URL(servers.mongodbUri);
  url.pathname = `/privacy-${records}`;
  const db = await openDatabase(url.href);
  await buildIndexes(db);
  await seedProgress(db, { version, lessons, records });
  console.log(`Seeded ${records} learners`);
  return db;
}

/** Each round erases another learner in each database. All of its time counts, so also that outside of MongoDB. */
async function measureErasures(): Promise<void> {
  const milliseconds = new Map<number, number[]>(sizes.map((records) => [records, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [records, db] of databases) {
      const { learnerId } = learnerOf(Math.floor((round * records) / (rounds + 1)), lessons);
      const deps = { db, store, pepper, settleMs: 0 };
      const started = performance.now();
      await requestErasure(deps, { source: 'embed', organizationId: organization._id, learnerId });
      const next = erasuresInTurn(deps);
      while (await next());
      // The first round warms up.
      if (round > 0) milliseconds.get(records)?.push(performance.now() - started);
    }
  }
  console.log('\nan erasure, without its minute of settling');
  const of = (records: number) => median(milliseconds.get(records) ?? []);
  const [smallest = 0] = sizes;
  for (const records of sizes) {
    const ratio = (of(records) / of(smallest)).toFixed(2);
    console.log(`  ${`${records} learners`.padEnd(20)} ${of(records).toFixed(1).padStart(7)} ms  ${ratio}`);
  }
}

/** Writes the entries of reading, as many concurrent requests do. */
async function measureAudit(): Promise<void> {
  const db = databases.get(sizes[0] ?? 0) as Database;
  const entry = (): NewAuditEntry => ({
    action: 'progress.read',
    actor: { type: 'key', id: 'lkp_3q2R8vX1nB6kT0yWc5LmZs7d' },
    target: { type: 'learner', id: randomUUID().repeat(2).slice(0, 43) },
    details: { lessonId: version.lessonId },
    ...{ ip: '192.0.2.7', requestId: randomUUID() },
  });
  const log = { warn: () => undefined };
  const perEntry = db.connection.collection('auditBaseline');
  const inserts: number[] = [];
  const batched: number[] = [];
  const organizationId = randomUUID();
  for (let round = 0; round <= 5; round += 1) {
    const timed = async (to: number[], work: () => Promise<unknown>) => {
      const started = performance.now();
      await work();
      if (round > 0) to.push(((performance.now() - started) * 1000) / auditedReads);
    };
    await timed(inserts, () => concurrently(() => perEntry.insertOne({ organizationId, ...entry() })));
    await timed(batched, async () => {
      const audit = new AuditLog({ db, log });
      await concurrently(() => Promise.resolve(audit.record(organizationId, entry())));
      await audit.close();
    });
  }
  const [baseline, own] = [median(inserts), median(batched)];
  console.log(`\nan entry of the audit log, ${auditedReads} entries of 50 concurrent requests`);
  console.log(`  an insert for each   ${baseline.toFixed(1).padStart(7)} µs  1.00`);
  console.log(`  the audit log        ${own.toFixed(1).padStart(7)} µs  ${(own / baseline).toFixed(2)}`);
  const { size, storageSize, count } = await statsOf(db, 'auditEntries');
  console.log(`  ${(size / count).toFixed(0)} bytes an entry, ${(storageSize / count).toFixed(0)} on disk`);
}

async function concurrently(work: () => Promise<unknown>): Promise<void> {
  let left = auditedReads;
  const one = async () => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: 50 }, one));
}

async function statsOf(
  db: Database,
  collection: string,
): Promise<{ size: number; storageSize: number; count: number }> {
  return (await db.connection.db?.command({ collStats: collection })) as never;
}
