import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { ZipFile } from 'yazl';
import { Lectern } from '../../clients/typescript/src/index.ts';
import { exportProfiles } from '../../shared/exports/profiles.ts';
import { messageOf } from '../../shared/platform/errors.ts';
import { prepareInstallation, startCompiledApi, startCompiledWorker } from '../installation.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { publishLargest, questionOf } from './limits.ts';
import { costs, recording } from './recorder.ts';

/*
 * Measures what hostile packages, and lessons and records at all limits, cost a worker that imports, exports, counts and
 * delivers them: blocks of its event loop, and memory.
 */

/** @param packages the files of each package by path */
export async function measureWorker(packages: Record<string, () => Record<string, Buffer>>): Promise<void> {
  const receiver = createServer((request, response) => {
    request.resume().once('end', () => response.writeHead(204).end());
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const installation = await prepareInstallation({
    LECTERN_ALLOWED_PRIVATE_HOSTS: new URL(receiverUrl).host,
  });
  const api = await startCompiledApi(installation);
  const worker = await startCompiledWorker(installation, recording);
  const url = `http://127.0.0.1:${api.port}`;
  const client = new Lectern({ url, credentials: installation.authorization.replace('Bearer ', '') });
  const measure = async (name: string, work: () => Promise<string>): Promise<void> => {
    await costs(worker);
    const verdict = await work().catch((error: unknown) => `fails: ${messageOf(error)}`);
    const { block, delay, memory, childMemory } = await costs(worker);
    const columns = [`${block} ms`, `${delay} ms`, `${memory} MB`, `${childMemory} MB`];
    console.log(
      `${name.padEnd(40)} ${columns.map((text) => text.padStart(8)).join(' ')}   ${verdict.slice(0, 80)}`,
    );
  };
  console.log('work of a worker                            block    delay   memory    child');
  try {
    for (const [name, files] of Object.entries(packages))
      await measure(`import: ${name}`, () => importZip(client, files()));
    const version = await publishLargest(installation);
    const parts = { lessonId: version.lessonId, versionId: version._id };
    for (const { query } of Object.values(exportProfiles))
      await measure(`export of the largest lesson: ${new URLSearchParams(query as never).toString()}`, () =>
        lengthOf(client.exports.stream(parts.lessonId, parts.versionId, { archive: query as never })),
      );
    await client.webhooks.create({
      url: `${receiverUrl}/hook`,
      events: ['progress.updated', 'progress.completed'],
    });
    await client.xapiDestinations.create({
      endpoint: `${receiverUrl}/xapi/`,
      username: 'a',
      password: 'b',
    });
    await measure('deliveries of records near the limit', async () => {
      for (let learner = 0; learner < 4; learner += 1) await fillRecord(client, url, version);
      return delivered(client);
    });
    await measure('statistics of records near the limit', async () => {
      for (;;) {
        const response = await fetch(`${url}/api/lessons/${parts.lessonId}/statistics`, {
          headers: { authorization: installation.authorization },
        });
        const text = await response.text();
        if (response.status !== 202) return `${response.status}, ${text.length} bytes`;
        await setTimeout(500);
      }
    });
  } finally {
    receiver.close();
    await worker.stop();
    await api.stop();
    await installation.remove();
  }
}

async function importZip(client: Lectern, files: Record<string, Buffer>): Promise<string> {
  const zip = new ZipFile();
  for (const [path, bytes] of Object.entries(files)) zip.addBuffer(bytes, path);
  zip.end();
  const bytes = await buffer(zip.outputStream);
  const { id } = await client.imports.create(new Blob([bytes]), { asNew: true, publish: true });
  let last = '';
  for await (const { status, error } of client.imports.follow(id))
    last = `${status}${error ? `: ${error.message}` : ''}`;
  return last;
}

async function lengthOf(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  let bytes = 0;
  for await (const chunk of chunks) bytes += chunk.length;
  return `${bytes} bytes`;
}

/** Fills the record of a new learner up to the limit. */
async function fillRecord(
  client: Lectern,
  url: string,
  { lessonId, _id: versionId }: LessonVersion,
): Promise<void> {
  const { token } = await client.tokens.sign({ lessonId, learnerId: randomUUID() });
  for (let round = 0; round < 4; round += 1) {
    const items = Array.from({ length: 300 }, (_, index) => ({
      ...questionOf(round * 300 + index),
      answer: 'x'.repeat(600),
    }));
    const body = JSON.stringify({ versionId, currentSectionIndex: 0, currentStepIndex: round, items });
    const response = await fetch(`${url}/api/public/lessons/${lessonId}/session?token=${token}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  }
}

/** Resolves when nothing waits any more. */
async function delivered({ deliveries }: Lectern): Promise<string> {
  for (let idle = 0, count = 0; ;) {
    const pending = await firstOf(deliveries.list({ status: 'pending' }));
    idle = pending === undefined ? idle + 1 : 0;
    if (idle === 5) {
      for await (const _one of deliveries.list({ status: 'delivered' })) count += 1;
      return `${count} deliveries`;
    }
    await setTimeout(1_000);
  }
}

async function firstOf<Item>(items: AsyncIterable<Item>): Promise<Item | undefined> {
  for await (const item of items) return item;
  return undefined;
}
