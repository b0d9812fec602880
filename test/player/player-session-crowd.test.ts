import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { maxLearnerRequests } from '../../api/player/learner-queues.ts';
import { buildLearnerToken } from '../support/factories.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { useApi } from '../support/use.ts';
import { Player, section, step, useLesson } from './player-lessons.ts';

const kB = 1024;
const widgets = Array.from({ length: 3 }, (_, index) => `Essay-${index}`);

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

/** Returns the final response to a started write; '' while the server waits for its body. */
const answerTo = ({ received }: { received: string }) =>
  received.replace(/^HTTP\/1\.1 100 [^]*?\r\n\r\n/, '');

/** Much longer than any step takes, so that a busy machine fails no test. */
const deadlineMs = 60_000;

test('a learner with too many concurrent requests gets 429 with Retry-After; other learners are served', async () => {
  const token = buildLearnerToken(version, { learnerId: randomUUID() });
  const player = new Player(api.url, version, token);
  let begun: ReturnType<typeof beginBody>[] = [];
  const refused = await waitFor(
    'a refusal',
    async () => {
      begun = begun.filter((write) => answerTo(write) === '');
      while (begun.length < maxLearnerRequests) begun.push(beginBody(token, 100, '{'));
      // A request that overtook them would take one of their slots and wait there.
      const hold = () => begun.every(({ received }) => received !== '');
      await waitFor('the server to read them or to reject them', hold, deadlineMs);
      const answer = await player.tell();
      return answer.status === 429 ? answer : undefined;
    },
    deadlineMs,
  );
  const error = 'Too many concurrent requests from this learner; try again in 2 seconds';
  expectError(refused, 429, error);
  expect(refused.headers.get('retry-after')).toBe('2');
  expect(refused.headers.get('access-control-allow-origin')).toBe('*');
  await newPlayer().write();

  for (const { socket } of begun) socket.destroy();
  await waitFor('room', async () => (await player.ask()).status === 200, deadlineMs);
});

test('a large record is written, returned and read unchanged, up to 2 MiB in all', async () => {
  const learnerId = randomUUID();
  const player = newPlayer(learnerId);
  const answer = 'ü'.repeat(480 * kB);
  const [first, second, third] = widgets.map((widgetId) => ({ items: [{ widgetId, answer }] }));
  await player.write({ revision: 0, ...first });
  await player.write({ revision: 1, ...second });
  expect((await player.tell({ revision: 2, ...third })).status).toBe(413);
  const read = await player.read();
  const items = widgets.slice(0, 2).map((widgetId) => ({ widgetId, answer }));
  expect(read).toMatchObject({ revision: 2, items });
  const stale = jsonOf(await player.tell({ revision: 0 })) as { current: unknown };
  expect(stale.current).toEqual(read);
  const url = `${api.url}/api/public/lessons/${version.lessonId}/progress/${learnerId}`;
  expect(jsonOf(await ask(url, { headers: api.headers }))).toMatchObject({ items: read.items });
});

test('a learner whose clients disconnected in mid-write is served as before', async () => {
  const token = buildLearnerToken(version, { learnerId: randomUUID() });
  const player = new Player(api.url, version, token);
  const place = { versionId: version._id, currentSectionIndex: 0, currentStepIndex: 0 };
  const body = JSON.stringify({ ...place, revision: 5 });
  // The learner's queue exists as long as one of its requests.
  const kept = beginBody(token, 100, '{');
  const early = Array.from({ length: 12 }, () => beginBody(token, body.length, body));
  const areRead = () => [kept, ...early].every(({ received }) => received !== '');
  await waitFor('writes whose bodies were read and that wait for earlier ones', areRead, deadlineMs);
  for (const { socket } of early) socket.destroy();
  // The earlier writes never arrive, so it waits longer than those do.
  expect((await player.tell({ revision: 5 })).status).toBe(409);
  const answers = await Promise.all(Array.from({ length: 4 }, () => player.ask()));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await player.write();
});

const largeItems = [{ widgetId: widgets[0], answer: 'x'.repeat(100 * kB) }];

test('large bodies that a learner announces and never sends do not affect other learners', async () => {
  const token = buildLearnerToken(version, { learnerId: randomUUID() });
  const announced = Array.from({ length: 13 }, () => beginBody(token, 1024 * kB, '{'));
  const all = () => announced.every(({ received }) => received !== '');
  await waitFor('13 writes that are read', all, deadlineMs);
  await newPlayer().write({ items: largeItems });
  for (const { received } of announced) expect(received).toMatch(/^HTTP\/1\.1 100 /);
});

test("a learner's third large body is rejected while two are in memory, and other learners are served", async () => {
  const token = buildLearnerToken(version, { learnerId: randomUUID() });
  const beginning = `{"a":"${'x'.repeat(1000 * kB)}`;
  const begun = Array.from({ length: 12 }, () => beginBody(token, 1024 * kB, beginning));
  const ended = () => begun.map(answerTo).filter((answer) => answer !== '');
  await waitFor('all but two of them to be ended', () => ended().length >= 10, deadlineMs);
  const error = 'Too much data sent at once by this learner; try again in 5 seconds';
  expect(ended().filter((answer) => answer.includes(error)).length).toBeGreaterThan(0);
  await newPlayer().write({ items: largeItems });
  const small = new Player(api.url, version, token);
  await small.write();

  for (const { socket } of begun) socket.destroy();
  const isWritten = async () => (await small.tell({ revision: 1, items: largeItems })).status === 200;
  await waitFor('room for a large body of the learner', isWritten, deadlineMs);
});
