import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { enqueuePrebuild } from '../../shared/exports/enqueue.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { ask } from '../support/answers.ts';
import { statusPath } from '../support/factories.ts';
import { useExportLab } from '../exports/lab.ts';
import { viewQueue } from '../exports/open-queue.ts';

const lab = useExportLab({ METRICS_PORT: '0', EXPORT_PREBUILD: 'true', WORKER_WATCHDOG_SECONDS: '1' });

interface Sender {
  sendCommand: (command: { args: unknown[] }, ...rest: unknown[]) => unknown;
}

/** Watches who sends commands with keys that begin with a text. Returns the places in the code, until the test ends. */
function watchSenders(redis: Redis, prefix: string): Set<string> {
  const senders = new Set<string>();
  for (const prototype of [Redis.prototype, Object.getPrototypeOf(redis.pipeline())] as Sender[]) {
    const original = prototype.sendCommand;
    prototype.sendCommand = function (command, ...rest) {
      if (command.args.flat().some((arg) => String(arg).startsWith(prefix)))
        senders.add(senderOf(new Error()));
      return original.call(this, command, ...rest);
    };
    onTestFinished(() => {
      prototype.sendCommand = original;
    });
  }
  return senders;
}

/** Returns the innermost place in the stack that is not in Redis's client: a package, or a file of Lectern. */
function senderOf({ stack = '' }: Error): string {
  const frames = stack.split('\n').slice(2);
  const place =
    frames.find((frame) => !/node_modules\/ioredis|\(node:|at new Promise/.test(frame)) ?? 'later';
  return /node_modules\/([\w-]+)/.exec(place)?.[1] ?? place.trim();
}

test('only BullMQ reads and writes the keys of the export queue, whatever happens to exports', async () => {
  const { jobs } = viewQueue(lab.harness);
  await jobs.waitUntilReady();
  const prefix = `${lab.harness.config.redisPrefix}:${jobs.name}`;
  const senders = watchSenders(jobs.redis, prefix);
  const broken = await lab.build();
  await lab.harness.db.lessonContents.deleteMany({ versionId: broken._id });
  const { version: held, held: file } = await lab.buildHeld();
  onTestFinished(() => file.release());
  const cancel = (version: LessonVersion) => lab.cancel(version).then(({ status }) => status);

  await lab.begin(held);
  expect(await cancel(held)).toBe(204);
  await enqueuePrebuild(jobs, exportJobOf(held));
  const stop = await lab.harness.startWorker();
  await file.reached;
  await lab.begin(held);
  expect((await lab.get(await lab.build())).status).toBe(200);
  expect((await lab.get(broken)).status).toBe(422);
  expect(await cancel(held)).toBe(202);
  const headers = { ...lab.headers, accept: 'text/event-stream' };
  await ask(lab.api + statusPath(held), { headers });
  await stop();
  expect([...senders].filter((sender) => sender !== 'later')).toEqual(['bullmq']);

  // Such access would be noticed.
  await jobs.redis.exists(`${prefix}:wait`);
  expect([...senders].join()).toContain('queue-keys.test.ts');
});
