import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { join } from 'node:path';
import { compile } from '../../esbuild.config.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { signEmbedToken } from '../../shared/tokens/player-tokens.ts';
import { launchBrowser } from '../../test/support/browser.ts';
import type { Load } from '../api/load.ts';
import { prepareInstallation, startCompiledApi } from '../installation.ts';
import { timeToFirstStep } from '../player/first-step.ts';
import { median, medians, report } from '../rounds.ts';
import { bookSections, bookStepTitle, writeBook } from './book.ts';
import type { Throughput } from './load.ts';
import { bytesBeforeStep, walk } from './page.ts';
import type { StaticBytes } from './static-bytes.ts';

/*
 * Measures a book of 739 steps: the time to its first heading against the demo lesson, requests per second for its page
 * and its player data against a plain server that sends the same compressed bytes, the API's memory, and the size of the
 * page while a learner goes through all steps.
 */

const rounds = Number(process.argv[3] ?? 9);
const seconds = Number(process.argv[4] ?? 4);
const connections = 32;
let learners = 0;
const demo = 'the demo lesson (baseline)';
const plain = 'node:http, bytes from memory (baseline)';
const acceptEncoding = { 'accept-encoding': 'gzip' };

await compile();
const installation = await prepareInstallation();
const { folder, secrets, organization } = installation;
await writeBook(join(folder, 'book'));
const book = await installation.publish(join(folder, 'book'));
const demoFolder = join(packageRoot, 'demo', 'lesson');
const demoVersion = await installation.publish(demoFolder);
const api = await startCompiledApi(installation, { METRICS_PORT: '0' });
const apiUrl = `http://127.0.0.1:${api.port}`;
const clients = fork(join(import.meta.dirname, 'load.ts'));
const browser = await launchBrowser();
const heading = { title: bookStepTitle(0), hasPicture: false };
const demoStep = await firstStep(demoFolder);
const demoHeading = { title: demoStep.title, hasPicture: false };
/** A link to the first step: the demo lesson begins with a cover. */
const demoUrl = () => `${embedUrl(demoVersion)}#step=${demoStep.id}`;

console.log(`Node ${process.version}, Chromium ${browser.version()}, medians of ${rounds} rounds`);
const bytes = await bytesBeforeStep(browser, embedUrl(book), heading.title);
console.log(`\nBytes before the first step: ${(bytes / 1000).toFixed(0)} kB, without pictures`);
report(
  'From navigation to the first heading, cold cache',
  await medians(
    [
      { name: demo, measure: () => timeToFirstStep(browser, demoUrl(), demoHeading) },
      { name: 'the book', measure: () => timeToFirstStep(browser, embedUrl(book), heading) },
    ],
    rounds,
  ),
  demo,
);

// Each request has its own learner, because Lectern limits the rate per learner.
const tokens = Array.from({ length: 128 }, () => tokenFor(book));
const paths = {
  'embed page': `/embed/${book.lessonId}`,
  'player-data': `/api/public/lessons/${book.lessonId}/player-data`,
};
const baseline = fork(join(import.meta.dirname, 'static-bytes.ts'));
const { port } = await ask<{ port: number }>(baseline, await recordResponses(Object.values(paths)));
for (const [name, path] of Object.entries(paths)) await measureRequests(name, path);

console.log(`\nMemory of the API afterward: ${((await apiMemory()) / 1e6).toFixed(0)} MB`);

const { sizes, requests } = await walk(browser, embedUrl(book), {
  steps: bookSections().flatMap((section) => section.steps).length,
  interval: 100,
});
console.log(`\nA learner goes through all steps: ${requests} chunks requested`);
for (const { step, heapMegabytes, nodes } of sizes)
  console.log(
    `  step ${String(step).padStart(4)}  ${heapMegabytes.toFixed(1).padStart(6)} MB  ${nodes} nodes`,
  );

await browser.close();
await api.stop();
clients.disconnect();
baseline.disconnect();
await installation.remove();

function tokenFor({ lessonId }: LessonVersion): string {
  const learnerId = `learner-${(learners += 1)}`;
  const claims = { organizationId: organization._id, lessonId, versionId: null, learnerId };
  return signEmbedToken(secrets.signing, { ...claims, userAttributes: '{}' }, 3600).token;
}

function embedUrl(version: LessonVersion): string {
  return `${apiUrl}/embed/${version.lessonId}?token=${tokenFor(version)}`;
}

async function firstStep(packageFolder: string): Promise<{ id: string; title: string }> {
  const { sections } = JSON.parse(await readFile(join(packageFolder, 'lesson.json'), 'utf8')) as {
    sections: { steps: { id: string; title: string }[] }[];
  };
  return sections[0]?.steps[0] ?? { id: '', title: '' };
}

async function ask<Answer>(child: ChildProcess, message: object): Promise<Answer> {
  const answered = once(child, 'message');
  child.send(message);
  return ((await answered) as [Answer])[0];
}

/** Returns what the API sends for each path, compressed. */
async function recordResponses(all: string[]): Promise<StaticBytes> {
  const responses: StaticBytes = {};
  for (const path of all) {
    const request = get(`${apiUrl}${path}?token=${tokenFor(book)}`, { headers: acceptEncoding });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    if (response.statusCode !== 200 || response.headers['content-encoding'] !== 'gzip')
      throw new Error(`${path} returned ${response.statusCode} ${response.headers['content-encoding']}`);
    const body = (await buffer(response)).toString('base64');
    const { 'content-type': type = '' } = response.headers;
    responses[path] = { headers: { 'content-type': type, 'content-encoding': 'gzip' }, body };
  }
  return responses;
}

async function measureRequests(name: string, path: string): Promise<void> {
  const urls = new Map([
    [plain, `http://127.0.0.1:${port}`],
    ['Lectern', apiUrl],
  ]);
  const requests = tokens.map((token) => ({ path: `${path}?token=${token}`, headers: acceptEncoding }));
  const rates = new Map<string, number[]>([...urls.keys()].map((server) => [server, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [server, url] of urls) {
      const load: Load = { url, requests, connections, seconds };
      const result = await ask<Throughput>(clients, load);
      if (result.failures > 0) throw new Error(`${server}: ${result.failures} requests failed`);
      if (round > 0) rates.get(server)?.push(result.perSecond);
    }
  }
  console.log(`\n${name}, ${connections} connections`);
  const base = median(rates.get(plain) ?? []);
  for (const [server, list] of rates) {
    const rate = median(list);
    console.log(
      `  ${server.padEnd(44)} ${rate.toFixed(0).padStart(6)} per second  ${(rate / base).toFixed(2)}`,
    );
  }
}

/** Returns the API's resident memory in bytes. */
async function apiMemory(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${api.metricsPort}/metrics`)).text();
  return Number(/^process_resident_memory_bytes (.*)$/m.exec(text)?.[1] ?? NaN);
}
