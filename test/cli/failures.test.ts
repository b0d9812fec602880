import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import mongoose from 'mongoose';
import { expect, inject, onTestFinished, test } from 'vitest';
import { freePort, startServer } from '../../shared/embedded/child-process.ts';
import { entryPoint } from '../../shared/platform/paths.ts';
import { errorIn, lecternCommand, lecternHere, startCommand } from './command-line.ts';
import type { Environment } from './command-line.ts';
import { findOwnMongod } from '../support/servers.ts';
import { temporaryFolder } from '../support/folders.ts';

const noMongo = 'mongodb://me:hunter2@127.0.0.1:1/lectern';
const noRedis = 'redis://me:hunter2@127.0.0.1:1';

const errorOf = async (environment: Environment, ...args: string[]) =>
  errorIn(await lecternHere(environment, ...args));

test.each(['start', 'org list'])('%s reports all setting errors, and creates nothing', async (command) => {
  const dataDir = join(await temporaryFolder(), 'data');
  const wrong = { LECTERN_DATA_DIR: dataDir, PORT: 'many', LOG_LEVEL: 'loud', NODE_ENV: 'production' };
  const stderr = await errorOf(wrong, ...command.split(' '));
  const [title, ...faults] = stderr.trimEnd().split('\n');
  expect(title).toBe('lectern: The configuration is not valid:');
  expect(faults.map((fault) => /^ {2}\w+ (?:is required|must be)/.exec(fault)?.[0]).sort()).toStrictEqual([
    '  LECTERN_ASSET_SECRET is required',
    '  LECTERN_COOKIE_SECRET is required',
    '  LECTERN_KEY_PEPPER is required',
    '  LECTERN_SIGNING_SECRETS is required',
    '  LOG_LEVEL must be',
    '  MONGODB_URI is required',
    '  PORT must be',
    '  PUBLIC_URL is required',
    '  REDIS_URL is required',
  ]);
  expect(existsSync(dataDir)).toBe(false);
});

test('a .env file is read, and the environment wins over it', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, '.env'), 'PORT=many\nLOG_LEVEL=loud\n');
  const command = [...lecternCommand, 'org', 'list'];
  const finished = await startCommand(command, { PORT: '3000' }, folder).finished;
  expect(errorIn(finished)).toBe(
    'lectern: The configuration is not valid:\n  LOG_LEVEL must be one of silent, error, warn, info, debug\n',
  );
});

test('an unreachable MongoDB is reported without its password, and stdout stays empty', async () => {
  const environment = { MONGODB_URI: noMongo, REDIS_URL: inject('redisUrl') };
  expect(await errorOf(environment, 'org', 'list', '--json')).toMatch(
    /^lectern: MongoDB at mongodb:\/\/127\.0\.0\.1:1\/lectern does not respond .*MONGODB_URI\.\n$/,
  );
});

test.each([
  ['maxPoolSize=-1', 'maxPoolSize can only be a positive int value, got: -1'],
  ['tlsCertificateKeyFilePassword=a&hunter2=b', 'its options contain a secret, so the reason is not shown'],
])("an error about a connection URI with %s has the driver's reason, no secret", async (options, reason) => {
  const environment = { MONGODB_URI: `${noMongo}?${options}`, REDIS_URL: inject('redisUrl') };
  expect(await errorOf(environment, 'org', 'list')).toBe(
    `lectern: The MongoDB driver rejects MONGODB_URI (${reason}). Correct it: its options follow the "?".\n`,
  );
});

test('start reports everything that is missing at once, and each item once', async () => {
  const dataDir = await temporaryFolder();
  await writeFile(join(dataDir, 'store'), 'a file where a folder should be');
  const environment = { MONGODB_URI: noMongo, REDIS_URL: noRedis, LECTERN_DATA_DIR: dataDir };
  const stderr = await errorOf(environment, 'start');
  expect(stderr.trimEnd().split('\n')).toStrictEqual([
    expect.stringMatching(/^Generated secrets for settings that are not set, .*LECTERN_KEY_PEPPER/),
    expect.stringMatching(/^lectern: The store in .* cannot be written to/),
    expect.stringMatching(/^MongoDB at .* does not respond/),
    expect.stringMatching(/^No connection to Redis at redis:\/\/127\.0\.0\.1:1 \(.*REDIS_URL/),
  ]);
  expect(stderr).not.toContain('hunter2');
});

test.each(['start', 'org list'])('%s reports a data directory that is not writable', async (command) => {
  const file = join(await temporaryFolder(), 'file');
  await writeFile(file, '');
  const stderr = await errorOf({ LECTERN_DATA_DIR: join(file, 'data') }, ...command.split(' '));
  expect(stderr).toMatch(/^lectern: The data directory \S+ cannot be written to .*LECTERN_DATA_DIR.*\n$/);
});

test('doctor reports each failing dependency and its solution in its result', async () => {
  const environment = {
    MONGODB_URI: noMongo,
    REDIS_URL: inject('redisUrl'),
    LECTERN_DATA_DIR: await temporaryFolder(),
    PUBLIC_URL: 'https://lectern.example',
  };
  const { code, stdout, stderr } = await lecternHere(environment, 'doctor', '--json');
  expect({ code, stderr }).toStrictEqual({ code: 1, stderr: '' });
  const { ok, checks } = JSON.parse(stdout) as {
    ok: boolean;
    checks: { name: string; ok: boolean; message: string }[];
  };
  expect(ok).toBe(false);
  // Lectern does not serve HTTPS itself.
  expect(checks.find(({ name }) => name === 'API')?.message).toContain('TRUST_PROXY is 0');
  const failing = (name: string, message: string) => {
    return { name, ok: false, version: null, message: expect.stringContaining(message) as string };
  };
  expect(checks.filter((check) => !check.ok)).toStrictEqual([
    failing('MongoDB', 'MONGODB_URI'),
    failing('workers', 'no worker is running'),
  ]);
  expect(checks.map((check) => check.name).join()).toBe(
    'Node.js,settings,MongoDB,Redis,workers,API,store,core widgets,player',
  );
});

test('a reader that closes the pipe early is not a failure', async () => {
  const command = ['/bin/sh', '-c', `"$@" | true`, 'sh', ...lecternCommand, '--help'];
  const { stderr } = await startCommand(command, {}).finished;
  expect(stderr).toBe('');
});

test('doctor says how a standalone MongoDB becomes a replica set, and then that its user may not write', async () => {
  const folder = await temporaryFolder();
  const port = await freePort();
  const uri = (options: string, user = '') => `mongodb://${user}127.0.0.1:${port}/lectern?${options}`;
  const start = async (...args: string[]) => {
    const server = await startServer({
      name: 'MongoDB',
      command: await findOwnMongod(),
      args: ['--dbpath', folder, '--bind_ip', '127.0.0.1', '--port', String(port), '--nounixsocket', ...args],
      ready: /waiting for connections/i,
      logFile: join(folder, 'mongod.log'),
    });
    onTestFinished(() => server.stop());
    return server;
  };
  const run = async (connectTo: string, database: string, command: Record<string, unknown>) => {
    const connection = await mongoose.createConnection(connectTo).asPromise();
    await connection.getClient().db(database).command(command);
    await connection.close();
  };
  const finding = async (environment: Record<string, string>) => {
    const settings = { REDIS_URL: inject('redisUrl'), LECTERN_DATA_DIR: folder, ...environment };
    const { stdout } = await lecternHere(settings, 'doctor', '--json');
    const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean; message: string }[] };
    return checks.find(({ name }) => name === 'MongoDB');
  };

  const standalone = await start();
  expect(await finding({ MONGODB_URI: uri('') })).toMatchObject({
    ok: false,
    message: expect.stringMatching(/is a standalone server; .*replSetName.*keyFile.*rs\.initiate/) as string,
  });
  await run(uri(''), 'admin', { createUser: 'root', pwd: 'secret', roles: ['root'] });
  await standalone.stop();

  const keyFile = join(folder, 'key');
  await writeFile(keyFile, 'secret', { mode: 0o400 });
  await start('--replSet', 'lectern', '--keyFile', keyFile);
  const uninitiated = await finding({ MONGODB_URI: uri('authSource=admin', 'root:secret@') });
  const initiation = /never initiated\. Run in mongosh: rs\.initiate\((.*)\)$/.exec(
    uninitiated?.message ?? '',
  )?.[1];
  expect(initiation).toContain(`host: '127.0.0.1:${port}'`);
  await run(uri('authSource=admin&directConnection=true', 'root:secret@'), 'admin', {
    replSetInitiate: runInNewContext(`(${initiation})`),
  });
  const asRoot = uri('authSource=admin', 'root:secret@');
  await run(asRoot, 'lectern', { createUser: 'reader', pwd: 'secret', roles: ['read'] });

  expect(await finding({ MONGODB_URI: uri('authSource=lectern', 'reader:secret@') })).toMatchObject({
    ok: false,
    message: expect.stringMatching(/may not insert documents .*Give it the role readWrite/) as string,
  });
});

test.each(['cli/main', 'api/main', 'worker/main'])('%s names a Node.js that is too old', async (entry) => {
  const old = join(await temporaryFolder(), 'old.cjs');
  const versions = `{ ...process.versions, node: '18.20.8' }`;
  await writeFile(old, `Object.defineProperty(process, 'versions', { value: ${versions} });`);
  const command = [process.execPath, '--require', old, entryPoint(entry), 'doctor'];
  expect(await startCommand(command, {}).finished).toMatchObject({
    code: 1,
    stderr: 'lectern: Node.js 18.20.8 is too old: install >=20.19\n',
  });
});
