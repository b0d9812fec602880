import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { buildLearnerToken } from '../support/factories.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { useApi } from '../support/use.ts';
import { Player, section, step, useLesson } from './player-lessons.ts';

const kB = 1024;
const widgets = Array.from({ length: 20 }, (_, index) => `Essay-${index}`);

const api = useApi();
const essays = widgets.map((id) => ({ type: 'Essay', props: { id } }));
const version = useLesson(api, { sections: [section('one', step('s1', ...essays))] });

const newPlayer = (learnerId: string = randomUUID()) =>
  new Player(api.url, version, buildLearnerToken(version, { learnerId }));

/** Sends the head of a write and the beginning of its body on a new connection. */
function beginBody(token: string, announcedBytes: number, beginning: string) {
  const { hostname, port } = new URL(api.url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  const begun = { socket, received: '' };
  socket.on('data', (chunk: Buffer) => (begun.received += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  const head = [
    `POST /api/public/lessons/${version.lessonId}/session?token=${token} HTTP/1.1`,
    `Host: ${hostname}`,
    'Content-Type: application/json',
    `Content-Length: ${announcedBytes}`,
    // The server's 100 shows that it reads the body.
    'Expect: 100-continue',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${beginning}`);
  return begun;
}

/** Much longer than any step takes, so that a busy machine fails no test. */
const deadlineMs = 60_000;

test('a learner with two open requests waits two seconds, and gets 429 with Retry-After; others are served', async () => {
  const token = buildLearnerToken(version, { learnerId: randomUUID() });
  const player = new Player(api.url, version, token);
  // Each keeps its place until its response is closed.
  const begun = [beginBody(token, 100, '{'), beginBody(token, 100, '{')];
  const areRead = () => begun.every(({ received }) => received !== '');
  await waitFor('the server to read both', areRead, deadlineMs);
  const refused = player.tell();
  await newPlayer().write();
  const error = 'Too many concurrent requests from this learner; try again in 2 seconds';
  expectError(await refused, 429, error);
  const { headers } = await refused;
  expect(headers.get('retry-after')).toBe('2');
  expect(headers.get('access-control-allow-origin')).toBe('*');

  for (const { socket } of begun) socket.destroy();
  await waitFor('room', async () => (await player.ask()).status === 200, deadlineMs);
});

test('a large record is written, returned and read unchanged, up to 1 MiB in all', async () => {
  const learnerId = randomUUID();
  const player = newPlayer(learnerId);
  const answer = 'ü'.repeat(31 * kB);
  const written: string[] = [];
  for (let from = 0; from < widgets.length; from += 4) {
    const some = widgets.slice(from, from + 4);
    const { status } = await player.tell({ items: some.map((widgetId) => ({ widgetId, answer })) });
    if (status === 413) break;
    written.push(...some);
  }
  expect(written).toHaveLength(16);
  const read = await player.read();
  expect(read).toMatchObject({ items: written.map((widgetId) => ({ widgetId, answer })) });
  const url = `${api.url}/api/public/lessons/${version.lessonId}/progress/${learnerId}`;
  expect(jsonOf(await ask(url, { headers: api.headers }))).toMatchObject({ items: read.items });
});

test('a learner whose clients disconnected in mid-write is served as before', async () => {
  const token = buildLearnerToken(version, { learnerId: randomUUID() });
  const player = new Player(api.url, version, token);
  for (let round = 0; round < 3; round += 1) {
    const begun = [beginBody(token, 100, '{'), beginBody(token, 100, '{')];
    await waitFor('reading', () => begun.every(({ received }) => received !== ''), deadlineMs);
    for (const { socket } of begun) socket.destroy();
  }
  await player.write();
});
