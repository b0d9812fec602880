import { join } from 'node:path';
import { startProcesses } from '../../cli/installation/processes.ts';
import { countInTurn } from '../../shared/learners/count-learners.ts';
import { requestStatistics } from '../../shared/models/lesson-statistics.ts';
import { learnerListIndex } from '../../shared/models/progress-record.ts';
import { PreparedLessons } from '../../shared/player/prepared-lessons.ts';
import { freePort } from '../../shared/embedded/child-process.ts';
import { prepareInstallation } from '../installation.ts';
import { seedRecords, writeQuiz } from './seed.ts';

/*
 * Streams all learners of one lesson from an API process, and counts them for statistics. The baseline reads the same
 * records with the MongoDB driver and prints them with JSON.stringify, in one process, without HTTP. Reports times as
 * ratios to it, and the most memory of the API. Also measures how long /health/live waits beside a stream.
 */

const learners = Number(process.argv[3] ?? 1_000_000);
const isOnlyCounted = process.argv[4] === 'statistics';

const installation = await prepareInstallation();
const { folder, config, servers, settings, db, organization, authorization } = installation;
await writeQuiz(join(folder, 'lesson'));
const { lessonId, _id: versionId } = await installation.publish(join(folder, 'lesson'));
await seedRecords(db, { organizationId: organization._id, lessonId, versionId }, learners);
const metricsPort = await freePort();
const api = await startProcesses(config, servers, {
  workers: 0,
  settings: { ...settings, METRICS_PORT: String(metricsPort) },
});

const baselineMs = await timed(readPlainly);
console.log(`${learners} learners. Baseline, the driver alone: ${seconds(baselineMs)}`);
const before = await memory();
console.log(`API before the streams: ${before.toFixed(0)} MB`);
for (const file of isOnlyCounted ? [] : ['learners.ndjson', 'learners.csv', 'answers.csv'])
  await measureStream(file);

await requestStatistics(db, { _id: versionId, organizationId: organization._id, lessonId });
const count = countInTurn({ db, lessons: new PreparedLessons(db, 16 * 1024 ** 2) });
const usedMb = () => process.memoryUsage().rss / 1e6;
const beforeMb = usedMb();
let mostMb = beforeMb;
const sampling = setInterval(() => (mostMb = Math.max(mostMb, usedMb())), 50);
const countMs = await timed(() => count(new AbortController().signal));
clearInterval(sampling);
console.log(
  `Statistics: ${seconds(countMs)}, ${(countMs / baselineMs).toFixed(2)} times the baseline, ` +
    `${(mostMb - beforeMb).toFixed(0)} MB more than the ${beforeMb.toFixed(0)} MB before`,
);
await api.stop();
await installation.remove();

async function readPlainly(): Promise<void> {
  let bytes = 0;
  const fields = {
    learnerId: 1,
    status: 1,
    score: 1,
    maxScore: 1,
    startedAt: 1,
    completedAt: 1,
    lastActivityAt: 1,
  };
  const cursor = db.embedProgress.collection
    .find({ organizationId: organization._id, lessonId }, { projection: fields })
    .hint(learnerListIndex)
    .batchSize(500);
  for await (const record of cursor) bytes += JSON.stringify(record).length;
  if (bytes === 0) throw new Error('nothing was read');
}

/** Reads a stream to its end; meanwhile samples memory and the time of another request. */
async function measureStream(file: string): Promise<void> {
  let [bytes, most, isOpen] = [0, 0, true];
  const waits: number[] = [];
  const sampling = (async () => {
    while (isOpen) {
      most = Math.max(most, await memory());
      const started = performance.now();
      await (await fetch(`${api.url}/health/live`)).text();
      waits.push(performance.now() - started);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  })();
  const took = await timed(async () => {
    const response = await fetch(`${api.url}/api/lessons/${lessonId}/${file}`, {
      headers: { authorization },
    });
    if (response.status !== 200 || response.body === null) throw new Error(`${file} got ${response.status}`);
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) bytes += chunk.length;
  });
  isOpen = false;
  await sampling;
  const sorted = waits.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? NaN).toFixed(1);
  console.log(
    [
      `${file}: ${seconds(took)}, ${(took / baselineMs).toFixed(2)} times the baseline`,
      `${(bytes / 1e6).toFixed(0)} MB, API at most ${most.toFixed(0)} MB`,
      `another request waits p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
    ].join('; '),
  );
}

/** Returns the memory of the API, in megabytes. */
async function memory(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (.*)$/m.exec(text)?.[1] ?? NaN) / 1e6;
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}
