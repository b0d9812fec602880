import { setMaxListeners } from 'node:events';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProcesses } from '../../cli/installation/processes.ts';
import type { Processes } from '../../cli/installation/processes.ts';
import { freePort } from '../../shared/embedded/child-process.ts';
import { signEmbedToken } from '../../shared/tokens/player-tokens.ts';
import { writeSampleLesson } from '../api/sample.ts';
import { prepareInstallation } from '../installation.ts';

/*
 * Simulates learners who play through two API processes at once, each over a separate keep-alive connection: load the
 * session, then answer questions with pauses. Reports saved writes per second, per second of the APIs' processor time,
 * latencies, and the memory of the APIs each minute. Learners, APIs, MongoDB and Redis share the machine.
 */

const learners = Number(process.argv[3] ?? 10_000);
const minutes = Number(process.argv[4] ?? 10);
/** The mean pause between a learner's answers, in seconds. */
const pauseSeconds = Number(process.argv[5] ?? 30);
const apiCount = 2;

const installation = await prepareInstallation();
const { folder, config, servers, settings, secrets, organization } = installation;
await writeSampleLesson(join(folder, 'lesson'), { steps: 4, wordsPerStep: 40 });
const { lessonId, _id: versionId } = await installation.publish(join(folder, 'lesson'));
const apis: { processes: Processes; metricsPort: number }[] = [];
for (let number = 0; number < apiCount; number += 1) {
  const metricsPort = await freePort();
  const own = { ...settings, METRICS_PORT: String(metricsPort) };
  apis.push({
    processes: await startProcesses(config, servers, { workers: 0, settings: own }),
    metricsPort,
  });
}

interface Minute {
  latencies: number[];
  failures: Map<string, number>;
  /** Processor time of all APIs. */
  apiSeconds: number;
  mongodbSeconds: number;
  /** Bytes of each API. */
  memory: number[];
}

const ending = new AbortController();
setMaxListeners(0, ending.signal);
let current = emptyMinute();
const report: Minute[] = [];
const playing = Array.from({ length: learners }, (_, number) => play(number));
let before = await readServers();
for (let minute = 1; minute <= minutes; minute += 1) {
  await sleep(60_000);
  const now = await readServers();
  const finished = {
    ...current,
    apiSeconds: now.apiSeconds - before.apiSeconds,
    mongodbSeconds: now.mongodbSeconds - before.mongodbSeconds,
    memory: now.memory,
  };
  current = emptyMinute();
  before = now;
  report.push(finished);
  print(`minute ${minute}`, finished, 60);
}
ending.abort();
await Promise.all(playing);
// The first minute opens the connections.
const counted = report.length > 1 ? report.slice(1) : report;
const [first, last] = [counted[0], counted.at(-1)];
print(
  'all but the first',
  {
    latencies: counted.flatMap(({ latencies }) => latencies),
    failures: new Map(counted.flatMap(({ failures }) => [...failures])),
    apiSeconds: counted.reduce((sum, minute) => sum + minute.apiSeconds, 0),
    mongodbSeconds: counted.reduce((sum, minute) => sum + minute.mongodbSeconds, 0),
    memory: last?.memory ?? [],
  },
  60 * counted.length,
);
const growth = (last?.memory ?? []).map((bytes, index) => bytes / (first?.memory[index] ?? NaN));
console.log(
  `Memory at the end against the end of the second minute: ${growth.map((one) => one.toFixed(2)).join(', ')}`,
);
for (const { processes } of apis) await processes.stop();
await installation.remove();

function emptyMinute(): Minute {
  return { latencies: [], failures: new Map(), apiSeconds: 0, mongodbSeconds: 0, memory: [] };
}

/** Plays as one learner until the end: reads the session, and then writes an answer after each pause. */
async function play(number: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const learnerId = `learner-${number}`;
  const claims = { organizationId: organization._id, lessonId, versionId: null, learnerId };
  const { token } = signEmbedToken(secrets.signing, { ...claims, userAttributes: '{}' }, 86_400);
  const baseUrl = apis[number % apiCount]?.processes.url ?? '';
  const url = `${baseUrl}/api/public/lessons/${lessonId}/session?token=${token}`;
  try {
    // Learners do not arrive at the same moment.
    await pause(Math.random() * pauseSeconds);
    await exchange(agent, url, null);
    for (let answer = 0; ; answer += 1) {
      await pause(pauseSeconds * (0.5 + Math.random()));
      const step = answer % 4;
      const started = performance.now();
      await exchange(agent, url, {
        versionId,
        currentSectionIndex: 0,
        currentStepIndex: step,
        variableState: { tries: answer },
        items: [{ widgetId: `MultipleChoice-${step}`, answer: { selected: [`choice-${answer % 4}`] } }],
      });
      current.latencies.push(performance.now() - started);
    }
  } catch (error) {
    if (!ending.signal.aborted) throw error;
  } finally {
    agent.destroy();
  }
}

function pause(seconds: number): Promise<void> {
  return sleep(seconds * 1000, undefined, { signal: ending.signal });
}

/** Reads the session, or writes to it. Failures are counted, and retried after a second. */
async function exchange(agent: Agent, url: string, write: object | null): Promise<void> {
  for (;;) {
    const { status } = await send(agent, url, write).catch((error: unknown) => ({
      status: error instanceof Error ? error.message : String(error),
    }));
    if (status === 200) return;
    current.failures.set(String(status), (current.failures.get(String(status)) ?? 0) + 1);
    await pause(1);
  }
}

function send(agent: Agent, url: string, write: object | null): Promise<{ status: number; body: string }> {
  const text = write === null ? '' : JSON.stringify(write);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
  return new Promise((resolve, reject) => {
    request(url, { agent, method: write === null ? 'GET' : 'POST', headers })
      .once('error', reject)
      .once('response', (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (body += chunk)).once('error', reject);
        response.once('end', () => resolve({ status: response.statusCode ?? 0, body }));
      })
      .end(text);
  });
}

/** Returns the processor time of the servers so far, and the memory of each API. */
async function readServers(): Promise<Pick<Minute, 'apiSeconds' | 'mongodbSeconds' | 'memory'>> {
  const status = (await installation.db.connection.db?.admin().serverStatus()) as {
    extra_info: { user_time_us: number; system_time_us: number };
  };
  const { user_time_us: user, system_time_us: system } = status.extra_info;
  const texts = await Promise.all(
    apis.map(async ({ metricsPort }) => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()),
  );
  const values = (name: string) =>
    texts.map((text) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1] ?? NaN));
  return {
    apiSeconds: values('process_cpu_seconds_total').reduce((sum, one) => sum + one, 0),
    mongodbSeconds: (Number(user) + Number(system)) / 1e6,
    memory: values('process_resident_memory_bytes'),
  };
}

function print(
  title: string,
  { latencies, failures, apiSeconds, mongodbSeconds, memory }: Minute,
  seconds: number,
): void {
  const sorted = latencies.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? NaN).toFixed(0);
  const figures = [
    `${(sorted.length / seconds).toFixed(0)} saved per second`,
    `${(sorted.length / apiSeconds).toFixed(0)} per second of the APIs' processor time`,
    `${(sorted.length / mongodbSeconds).toFixed(0)} of MongoDB's`,
    `p50 ${at(0.5)} ms`,
    `p99 ${at(0.99)} ms`,
    `memory ${memory.map((bytes) => `${(bytes / 1e6).toFixed(0)} MB`).join(', ')}`,
    `failures ${[...failures].map(([status, count]) => `${status}: ${count}`).join(', ') || 'none'}`,
  ];
  console.log(`${title}: ${figures.join('; ')}`);
}
