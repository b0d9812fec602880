import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { exportPath, statusPath } from '../support/factories.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask } from '../support/answers.ts';
import { startExportLab } from './held-exports.ts';
import type { ExportLab } from './held-exports.ts';
import { openStatusStream } from './status-stream.ts';

let lab: ExportLab;

beforeAll(async () => {
  lab = await startExportLab();
});
afterAll(() => lab.close());

interface Stream {
  response: IncomingMessage;
  /** Returns all events received so far. */
  text(): string;
  /** Returns the reported statuses in order, without consecutive repeats. */
  statuses(): string[];
  ended: Promise<void>;
}

async function openStream(
  version: LessonVersion,
  headers: Record<string, string> = {},
  api = lab.api,
): Promise<Stream> {
  const response = await openStatusStream(api, version, { ...lab.headers, ...headers });
  let received = '';
  response.setEncoding('utf8').on('data', (text: string) => (received += text));
  const ended = new Promise<void>((resolve, reject) => response.once('end', resolve).once('error', reject));
  ended.catch(() => undefined);
  return {
    response,
    text: () => received,
    statuses: () => {
      const told = [...received.matchAll(/^data: (.*)$/gm)].map(
        ([, json = '']) => (JSON.parse(json) as { status: string }).status,
      );
      return told.filter((status, index) => status !== told[index - 1]);
    },
    ended,
  };
}

function begin(version: LessonVersion) {
  return ask(lab.api + exportPath(version), { headers: { ...lab.headers, prefer: 'respond-async' } });
}

test('an event stream reports the progress of an export and ends when the archive is ready', async () => {
  const { version, held } = await lab.buildHeld(Buffer.alloc(1000, 'picture'));
  onTestFinished(() => held.release());
  await begin(version);
  const stream = await openStream(version);
  expect(stream.response.statusCode).toBe(200);
  expect(stream.response.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  await waitFor('the first event', () => stream.statuses().length > 0);
  expect(stream.text()).toMatch(/^retry: \d+\nid: queued\ndata: {"status":"queued",.*}\n\n$/);
  onTestFinished(await lab.harness.startWorker());
  await waitFor('figures of the build', () => stream.text().includes('"bytes":1000'));
  held.release();
  await stream.ended;
  expect(stream.statuses()).toEqual(['queued', 'building', 'ready']);
  expect(stream.text()).toMatch(/\n\nid: ready\ndata: {"status":"ready",.*}\n\n$/);
});

test('the event stream of a failed build ends with the reason', async () => {
  const version = await lab.build();
  await lab.harness.db.lessonContents.deleteMany({ versionId: version._id });
  await begin(version);
  const stream = await openStream(version);
  onTestFinished(await lab.harness.startWorker());
  await stream.ended;
  expect(stream.statuses().at(-1)).toBe('failed');
  expect(stream.text()).toContain('The content of this version is missing.');
});

test('the event stream of an export that was never requested reports none, and ends', async () => {
  const stream = await openStream(await lab.build());
  await stream.ended;
  expect(stream.statuses()).toEqual(['none']);
});

test('an EventSource that reconnects after the final event gets 204 and stops', async () => {
  const version = await lab.build();
  const { response } = await openStream(version, { 'last-event-id': 'none' });
  expect(response.statusCode).toBe(204);
  await begin(version);
  expect((await openStream(version, { 'last-event-id': 'none' })).response.statusCode).toBe(200);
});

test('an event stream ends after EXPORT_WAIT_SECONDS, so that the client reconnects', async () => {
  const version = await lab.build();
  await begin(version);
  const api = await lab.harness.startApi({ EXPORT_WAIT_SECONDS: '1' });
  const stream = await openStream(version, {}, api);
  await stream.ended;
  expect(stream.statuses()).toEqual(['queued']);
});

test('a client that accepts any type gets JSON', async () => {
  const version = await lab.build();
  for (const accept of ['*/*', 'application/json', 'text/html', 'application/json, text/event-stream']) {
    const answer = await ask(lab.api + statusPath(version), { headers: { ...lab.headers, accept } });
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('vary')).toBe('Accept');
  }
});

test('HEAD of an event stream has its content type and no events', async () => {
  const version = await lab.build();
  const headers = { ...lab.headers, accept: 'text/event-stream' };
  const answer = await ask(lab.api + statusPath(version), { method: 'HEAD', headers });
  expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(answer.body).toHaveLength(0);
});
