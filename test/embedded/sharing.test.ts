import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import mongoose from 'mongoose';
import { expect, inject, onTestFinished, test } from 'vitest';
import { acquire, serversEnded, startHolder } from './processes.ts';
import { temporaryFolder } from '../support/folders.ts';

async function notes(mongodbUri: string) {
  const connection = await mongoose.createConnection(mongodbUri).asPromise();
  onTestFinished(() => connection.close());
  return connection.collection<{ text: string }>('notes');
}

test('of two processes that start at once, one starts the servers, and both use them; they end with the last SIGKILL', async () => {
  const dataDir = await temporaryFolder();
  const [one, two] = await Promise.all([startHolder(dataDir), startHolder(dataDir)]);
  expect(one.servers).toEqual(two.servers);
  await Promise.all([one.kill(), two.kill()]);
  await serversEnded(one.servers);
});

test('another process uses the servers, and its end does not stop them; when their owner is killed, they end, it learns so, and the next start has the data', async () => {
  const dataDir = await temporaryFolder();
  const link = join(await temporaryFolder(), 'link');
  await symlink(dataDir, link);
  const owner = await startHolder(dataDir);
  const [visitor, user] = [await acquire(link), await acquire(link)];
  expect(visitor).toMatchObject(owner.servers);
  await visitor.release();
  await (await notes(user.mongodbUri)).insertOne({ text: 'kept' }, { writeConcern: { w: 'majority' } });

  await owner.kill();
  await expect(user.failed).rejects.toThrow('The embedded servers have ended');
  await serversEnded(owner.servers);

  // The file names its servers still. Their ports may belong to other programs now, even to other servers.
  const file = join(dataDir, 'servers.json');
  const left = JSON.parse(await readFile(file, 'utf8')) as object;
  expect(left).toMatchObject(owner.servers);
  const foreign = { mongodbUri: inject('mongodbUri'), redisUrl: inject('redisUrl') };
  await writeFile(file, JSON.stringify({ ...left, ...foreign }));
  const next = await acquire(dataDir);
  expect(await (await notes(next.mongodbUri)).findOne()).toMatchObject({ text: 'kept' });
  expect(next.redisUrl).not.toBe(foreign.redisUrl);
  const redis = new Redis(next.redisUrl);
  expect(await redis.keys('*')).toEqual([]);
  redis.disconnect();
});
