import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { usedMemory } from '../support/garbage.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask } from '../support/answers.ts';
import { publishLesson, section, step } from './player-lessons.ts';

/** More than the buffers of two sockets hold. */
const textBytes = 12 * 1024 ** 2;

let harness: Harness;
let address: string;
let version: LessonVersion;
let path: string;
const readers: Socket[] = [];

beforeAll(async () => {
  harness = await startHarness();
  address = await harness.startApi();
  const { organization } = await buildOrganization(harness);
  const text = { type: 'Text', props: { id: 'text', html: 'x'.repeat(textBytes) } };
  version = await publishLesson(harness, organization, { sections: [section('one', step('s1', text))] });
  path = `/api/public/lessons/${version.lessonId}/player-data?token=${buildLearnerToken(version)}`;
});
afterAll(async () => {
  for (const reader of readers) reader.destroy();
  await harness.close();
});

/** Requests the lesson, reads the beginning of the response, and stops. */
async function beginToRead(): Promise<string> {
  const { hostname, port } = new URL(address);
  const reader = connect(Number(port), hostname);
  readers.push(reader);
  reader.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  const beginning = await new Promise<Buffer>((resolve) => reader.once('data', resolve));
  reader.pause();
  return beginning.toString('latin1');
}

test('a large lesson arrives completely, and HEAD returns its length', async () => {
  const answer = await ask(address + path);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'application/json; charset=utf-8',
  ]);
  expect(answer.headers.get('content-length')).toBe(String(answer.body.length));
  expect(JSON.parse(answer.body.toString())).toMatchObject({ lesson: { totalSteps: 1 }, userAttributes: {} });
  const head = await ask(address + path, { method: 'HEAD' });
  expect(head.headers.get('content-length')).toBe(String(answer.body.length));
});

test('many slow readers of a large lesson share its bytes', async () => {
  await beginToRead();
  const before = usedMemory().arrayBuffers;
  for (let count = 0; count < 6; count += 1) expect(await beginToRead()).toMatch(/^HTTP\/1\.1 200 /);
  expect(usedMemory().arrayBuffers - before).toBeLessThan(textBytes);
});
