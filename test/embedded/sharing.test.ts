import { mkdir, readFile, readdir, realpath, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import mongoose from 'mongoose';
import { expect, onTestFinished, test } from 'vitest';
import { socketFolder } from '../../shared/embedded/rendezvous.ts';
import { waitFor } from '../support/wait-for.ts';
import { acquire, allEnded, lives, noServersRun, startHolder, temporaryDataDir } from './processes.ts';
import { temporaryFolder } from '../support/folders.ts';

async function notes(mongodbUri: string) {
  const connection = await mongoose.createConnection(mongodbUri).asPromise();
  onTestFinished(() => connection.close());
  return connection.collection<{ text: string }>('notes');
}

async function ping(redisUrl: string): Promise<string> {
  const redis = new Redis(redisUrl);
  onTestFinished(() => redis.disconnect());
  return redis.ping();
}

test('concurrent first starts create one set of servers, which ends with its last process, even after SIGKILL', async () => {
  const dataDir = await temporaryDataDir();
  const holders = [startHolder(dataDir), startHolder(dataDir)] as const;
  const [first, last] = await Promise.all(holders);
  const own = await acquire(dataDir);
  for (const { servers } of [first, last]) {
    expect([servers.processes, servers.mongodbUri]).toEqual([own.processes, own.mongodbUri]);
  }
  await first.kill();
  await own.release();
  await (await notes(own.mongodbUri)).insertOne({ text: 'written after the other processes exited' });
  await last.kill();
  await allEnded(own);
  expect(await readdir(join(dataDir, 'embedded'))).toEqual([]);
});

test('two paths to one data directory, even a long one, use the same servers, and only required ones start', async () => {
  // Created first and removed last, because MongoDB stops by the path it was started with.
  const link = join(await temporaryFolder(), 'link');
  // Too long for a socket.
  const dataDir = join(await realpath(await temporaryFolder()), 'x'.repeat(120));
  await mkdir(dataDir);
  const sockets = await socketFolder(dataDir);
  onTestFinished(() => rm(sockets, { recursive: true }));
  onTestFinished(() => noServersRun(dataDir), 60_000);
  await symlink(dataDir, link);
  const mongodb = await acquire(link);
  expect(mongodb).toMatchObject({ redisUrl: '', processes: { supervisor: expect.any(Number) } });
  expect(mongodb.processes.redis).toBeUndefined();

  const both = await acquire(dataDir, { needs: { mongodb: true, redis: true } });
  expect(both.processes).toEqual({ ...mongodb.processes, redis: expect.any(Number) });
  expect(await ping(both.redisUrl)).toBe('PONG');
});

test('after SIGKILL of the supervisor its servers exit, clients get an error, and new servers have the data', async () => {
  const messages: string[] = [];
  const dataDir = await temporaryDataDir();
  const before = await acquire(dataDir, { report: (message) => messages.push(message) });
  await (await notes(before.mongodbUri)).insertOne({ text: 'kept' }, { writeConcern: { j: true } });
  process.kill(before.processes.supervisor, 'SIGKILL');

  const [one, two] = await Promise.all([startHolder(dataDir), startHolder(dataDir)]);
  expect(one.servers.processes).toEqual(two.servers.processes);
  expect(one.servers.processes.supervisor).not.toBe(before.processes.supervisor);
  await allEnded(before);
  await waitFor('the message', () => messages.some((text) => text.includes('servers have ended')));
  expect(await (await notes(one.servers.mongodbUri)).findOne()).toMatchObject({ text: 'kept' });
});

test('a client that arrives while the supervisor is stopping gets a fresh one', async () => {
  const dataDir = await temporaryDataDir();
  const before = await acquire(dataDir);
  process.kill(before.processes.supervisor, 'SIGTERM');
  await waitFor('the start of the end', async () =>
    (await readFile(join(dataDir, 'embedded.log'), 'utf8')).includes('Stopping: SIGTERM'),
  );
  const after = await acquire(dataDir);
  expect(after.processes.supervisor).not.toBe(before.processes.supervisor);
  expect(lives(before.processes.mongodb)).toBe(false);
  expect(await (await notes(after.mongodbUri)).findOne()).toBeNull();
});

test('a crashed server restarts on its port', async () => {
  const servers = await acquire(await temporaryDataDir(), { needs: { mongodb: true, redis: true } });
  const collection = await notes(servers.mongodbUri);
  await collection.insertOne({ text: 'kept' }, { writeConcern: { j: true } });
  process.kill(servers.processes.mongodb ?? 0, 'SIGKILL');
  process.kill(servers.processes.redis ?? 0, 'SIGKILL');
  expect(await waitFor('MongoDB', () => collection.findOne(), 20_000)).toMatchObject({ text: 'kept' });
  await waitFor('Redis', async () => (await ping(servers.redisUrl)) === 'PONG', 20_000);
});
