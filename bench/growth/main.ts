import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Request } from 'autocannon';
import { startProcesses } from '../../cli/installation/processes.ts';
import type { Processes } from '../../cli/installation/processes.ts';
import { buildIndexes, openDatabase } from '../../shared/models/database.ts';
import { signEmbedToken } from '../../shared/tokens/player-tokens.ts';
import type { Load, LoadResult } from '../api/load.ts';
import { writeSampleLesson } from '../api/sample.ts';
import { prepareInstallation } from '../installation.ts';
import { median } from '../rounds.ts';
import { learnerOf, lessonOf, seedLessons, seedProgress } from './seed.ts';

/*
 * Measures requests with growing collections: the median and p99 of each endpoint, with ten thousand lessons and up to
 * a million progress records. An API for each size runs beside the others and gets load in turns, so noise of the machine
 * affects all. The smallest size is the baseline.
 */

const rounds = Number(process.argv[3] ?? 5);
const seconds = Number(process.argv[4] ?? 3);
const sizes = (process.argv[5] ?? '10000,100000,1000000').split(',').map(Number);
const lessons = 10_000;
const connections = 8;
/** The idempotency key lets the load generator begin again with its requests. */
const firstStep = {
  writeId: 'c0ffee00-0000-4000-8000-000000000000',
  ...{ currentSectionIndex: 0, currentStepIndex: 0, variableState: { tries: 4 } },
};
/** Requests of a round, for learners all over the collection. */
const sampled = 2_000;

const installation = await prepareInstallation();
const { folder, config, servers, settings, secrets, authorization, organization } = installation;
await writeSampleLesson(join(folder, 'lesson'), { steps: 4, wordsPerStep: 40 });
const version = await installation.publish(join(folder, 'lesson'));
const apis = new Map<number, Processes>();
for (const records of sizes) apis.set(records, await startWith(records));
const clients = fork(join(import.meta.dirname, '..', 'api', 'load.ts'));

console.log(
  `${lessons} lessons, ${connections} connections, Node ${process.version}, medians of ${rounds} rounds of ${seconds} s`,
);
for (const [name, requestsOf] of Object.entries(endpoints())) report(name, await measure(requestsOf));

for (const { stop } of apis.values()) await stop();
clients.disconnect();
await installation.remove();

/** Seeds a database, and starts an API on it. */
async function startWith(records: number): Promise<Processes> {
  const url = new URL(servers.mongodbUri);
  url.pathname = `/growth-${records}`;
  const db = await openDatabase(url.href);
  await buildIndexes(db);
  const started = performance.now();
  await seedLessons(installation.db, db, { version, lessons });
  await seedProgress(db, { version, lessons, records });
  const took = (performance.now() - started) / 1000;
  console.log(`Seeded ${records} records and ${lessons} lessons in ${took.toFixed(0)} s`);
  await db.connection.close();
  const own = { ...settings, REDIS_PREFIX: `growth-${records}` };
  return startProcesses(config, { ...servers, mongodbUri: url.href }, { workers: 0, settings: own });
}

/** Returns the requests of each endpoint, for learners spread over a number of records. */
function endpoints(): Record<string, (records: number) => Request[]> {
  const bearer = { authorization };
  const spread = (records: number) =>
    Array.from({ length: sampled }, (_, index) => {
      const record = Math.floor((index * records) / sampled);
      const { learnerId, lesson } = learnerOf(record, lessons);
      return { learnerId, ...lessonOf(lesson) };
    });
  const tokenFor = (lessonId: string, learnerId: string) => {
    const claims = { organizationId: organization._id, lessonId, versionId: null, learnerId };
    return signEmbedToken(secrets.signing, { ...claims, userAttributes: '{}' }, 86_400).token;
  };
  const withToken = (path: string) => (records: number) =>
    spread(records).map(({ learnerId, lessonId }): Request => {
      return { path: `/api/public/lessons/${lessonId}/${path}?token=${tokenFor(lessonId, learnerId)}` };
    });
  // A learner's first write inserts a record; each request is of another learner.
  let writes = 0;
  const firstWrites = (records: number) =>
    spread(records).map(({ lessonId, versionId }): Request => ({
      method: 'POST',
      path: `/api/public/lessons/${lessonId}/session?token=${tokenFor(lessonId, `new-${(writes += 1)}`)}`,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...firstStep, versionId }),
    }));
  return {
    progress: (records) =>
      spread(records).map(({ learnerId, lessonId }) => ({
        path: `/api/public/lessons/${lessonId}/progress/${learnerId}`,
        headers: bearer,
      })),
    session: withToken('session'),
    'session, a first write': firstWrites,
    'player-data': withToken('player-data'),
    'lesson list': () => [{ path: '/api/lessons?limit=50', headers: bearer }],
  };
}

async function ask<Answer>(child: ChildProcess, message: object): Promise<Answer> {
  const answered = once(child, 'message');
  child.send(message);
  return ((await answered) as [Answer])[0];
}

/** The first round warms up and does not count. */
async function measure(requestsOf: (records: number) => Request[]): Promise<Map<number, LoadResult[]>> {
  const results = new Map<number, LoadResult[]>(sizes.map((records) => [records, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [records, { url }] of apis) {
      const load: Load = { url, requests: requestsOf(records), connections, seconds };
      const result = await ask<LoadResult>(clients, load);
      if (result.failures > 0) throw new Error(`${records} records: ${result.failures} requests failed`);
      if (round > 0) results.get(records)?.push(result);
    }
  }
  return results;
}

function report(title: string, results: Map<number, LoadResult[]>): void {
  console.log(`\n${title}`);
  const of = (records: number, field: 'p50' | 'p99') =>
    median((results.get(records) ?? []).map((result) => result[field]));
  const [smallest = 0] = sizes;
  for (const records of sizes) {
    const ratios = (['p50', 'p99'] as const).map((field) => {
      const value = of(records, field);
      return `${field} ${value.toFixed(2).padStart(6)} ms ${(value / of(smallest, field)).toFixed(2)}`;
    });
    console.log(`  ${`${records} records`.padEnd(20)} ${ratios.join('   ')}`);
  }
}
