import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Request } from 'autocannon';
import jwt from 'jsonwebtoken';
import { startProcesses } from '../../cli/installation/processes.ts';
import { prepareInstallation } from '../installation.ts';
import { median } from '../rounds.ts';
import type { Load, LoadResult } from './load.ts';
import type { PlainSettings } from './plain-server.ts';
import { seed } from './seed.ts';
import type { SeededLesson } from './seed.ts';

/*
 * Measures the cost of requests against a minimal server with the same queries and checks (plain-server.ts): requests
 * per second and p99 at 32 connections. Both servers run side by side and get load in turns. Clients, servers and MongoDB
 * share the machine, so the ratio says more than the figures.
 */

const rounds = Number(process.argv[3] ?? 7);
const seconds = Number(process.argv[4] ?? 4);
const connections = 32;
const baseline = 'node:http and the driver (baseline)';

const installation = await prepareInstallation();
const { settings, config, servers, secrets, authorization } = installation;
const { learnerIds, small, large } = await seed(installation);

const processes = await startProcesses(config, servers, { workers: 0, settings });
const plain = fork(join(import.meta.dirname, 'plain-server.ts'));
const plainSettings: PlainSettings = {
  mongodbUri: servers.mongodbUri,
  pepper: secrets.keyPepper,
  signingSecret: secrets.signing[0]?.secret ?? '',
};
const { port } = await ask<{ port: number }>(plain, plainSettings);
const urls = new Map([
  [baseline, `http://127.0.0.1:${port}`],
  ['Lectern', processes.url],
]);
const clients = fork(join(import.meta.dirname, 'load.ts'));

const bearer = { authorization };
/**
 * Returns a request for each token. The plain server never compresses. Large lessons with gzip are measured in
 * bench/books: decoding their compressed bodies takes autocannon longer than sending them takes Lectern.
 *
 * @param encoding 'gzip', which browsers get, or 'identity'
 */
const playerData = ({ lessonId, tokens }: SeededLesson, encoding: string): Request[] =>
  tokens.map((token) => ({
    path: `/api/public/lessons/${lessonId}/player-data?token=${token}`,
    headers: { 'accept-encoding': encoding },
  }));
const signToken = (versionId?: string): Request[] =>
  learnerIds.map((learnerId) => ({
    method: 'POST',
    path: '/api/public/sign-token',
    headers: { ...bearer, 'content-type': 'application/json' },
    body: JSON.stringify({ lessonId: small.lessonId, versionId, learnerId, userAttributes: { group: 'b' } }),
  }));
const endpoints: Record<string, Request[]> = {
  progress: learnerIds.map((learnerId) => ({
    path: `/api/public/lessons/${small.lessonId}/progress/${learnerId}`,
    headers: bearer,
  })),
  'sign-token': signToken(),
  'sign-token with a versionId': signToken(small.versionId),
  'player-data, a small lesson': playerData(small, 'identity'),
  'player-data, a small lesson, with gzip': playerData(small, 'gzip'),
  'player-data, a lesson of 200 kB': playerData(large, 'identity'),
};

console.log(
  `${connections} connections, Node ${process.version}, medians of ${rounds} rounds of ${seconds} seconds`,
);
for (const [endpoint, requests] of Object.entries(endpoints)) {
  const bytes = await assertSameResponses(requests);
  report(`${endpoint} (${bytes} bytes)`, await measure(requests));
}

await processes.stop();
plain.disconnect();
clients.disconnect();
await installation.remove();

async function ask<Answer>(child: ChildProcess, message: object): Promise<Answer> {
  const answered = once(child, 'message');
  child.send(message);
  return ((await answered) as [Answer])[0];
}

/**
 * Checks that both servers return the same, because a server that omits something would be faster. Returns the size of
 * a response.
 */
async function assertSameResponses([request]: Request[]): Promise<number> {
  const texts: string[] = [];
  for (const baseUrl of urls.values()) {
    const { method = 'GET', path = '', headers = {}, body = null } = request ?? {};
    const response = await fetch(baseUrl + path, {
      method,
      headers: { ...headers } as Record<string, string>,
      body,
    });
    texts.push(await response.text());
    if (!response.ok) throw new Error(`${baseUrl} returns ${response.status} for ${path}: ${texts.at(-1)}`);
  }
  const [plains, lecterns] = texts.map((text) => comparable(JSON.parse(text) as object));
  if (!isDeepStrictEqual(plains, lecterns)) throw new Error(`the servers differ: ${texts.join('\n')}`);
  return Buffer.byteLength(texts[0] ?? '');
}

/** Returns a body for comparison: a token's claims, with its lifetime in place of its times. */
function comparable(body: object): object {
  if (!('token' in body)) return body;
  const { iat, exp, ...claims } = jwt.decode(String(body.token)) as jwt.JwtPayload;
  return { ...claims, seconds: (exp ?? 0) - (iat ?? 0) };
}

/** Measures in turns, so that noise of the machine affects both. The first round warms up and does not count. */
async function measure(requests: Request[]): Promise<Map<string, LoadResult[]>> {
  const results = new Map<string, LoadResult[]>([...urls.keys()].map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, url] of urls) {
      const load: Load = { url, requests, connections, seconds };
      const result = await ask<LoadResult>(clients, load);
      if (result.failures > 0) throw new Error(`${name}: ${result.failures} requests failed`);
      if (round > 0) results.get(name)?.push(result);
    }
  }
  return results;
}

function report(title: string, results: Map<string, LoadResult[]>): void {
  const rate = (name: string) => median((results.get(name) ?? []).map(({ perSecond }) => perSecond));
  console.log(`\n${title}`);
  for (const [name, list] of results) {
    const p99 = median(list.map((result) => result.p99));
    const columns = [
      `${rate(name).toFixed(0).padStart(6)} per second`,
      `p99 ${p99.toFixed(0).padStart(4)} ms`,
      (rate(name) / rate(baseline)).toFixed(2),
    ];
    console.log(`  ${name.padEnd(36)} ${columns.join('  ')}`);
  }
}
