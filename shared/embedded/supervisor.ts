import type { Socket } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { findMongod } from './find-mongod.ts';
import { startMongod } from './mongod.ts';
import { receive, Request, send } from './protocol.ts';
import { startRedis } from './redis.ts';
import { becomeSupervisor, socketFolder } from './rendezvous.ts';
import { createSharedServer } from './shared-server.ts';
import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';

// The process that owns the embedded servers of one data directory: `node supervisor {"dataDir", "cacheDir"}`. It
// serves the clients on its socket, and exits after the last one. Its output is its log.

/** Keeps the servers running between consecutive commands. */
const lingerMs = 1_000;
/** The process that started this one may exit before it connects. */
const firstClientTimeoutMs = 15_000;

const Options = z.object({ dataDir: z.string(), cacheDir: z.string() });
const { dataDir, cacheDir } = Options.parse(JSON.parse(process.argv[2] ?? ''));

const mongodbLog = openBoundedLog(join(dataDir, 'mongodb.log'));
const redisLog = openBoundedLog(join(dataDir, 'redis.log'));
const clients = new Set<Socket>();
let stopping = false;
let lastProgress: string | undefined;
let idle: NodeJS.Timeout | undefined;

function log(message: string): void {
  process.stdout.write(`${new Date().toISOString()} ${process.pid} ${message}\n`);
}

function progress(message: string): void {
  log(message);
  lastProgress = message;
  for (const client of clients) send(client, { type: 'progress', message });
}

const mongodb = createSharedServer({
  name: 'MongoDB',
  log,
  onLost: () => void stop('MongoDB keeps crashing'),
  async start(options) {
    const binary = await findMongod({ cacheDir, report: progress, signal: options.signal });
    progress('Starting MongoDB');
    return startMongod({ ...options, binary, dbPath: join(dataDir, 'mongodb'), log: mongodbLog });
  },
});

const redis = createSharedServer({
  name: 'Redis',
  log,
  onLost: () => void stop('Redis keeps crashing'),
  start: (options) => startRedis({ ...options, log: redisLog }),
});

async function serve(client: Socket, request: Request): Promise<void> {
  if (lastProgress !== undefined) send(client, { type: 'progress', message: lastProgress });
  try {
    const [mongo, cache] = await Promise.all([
      request.mongodb ? mongodb.ensure() : undefined,
      request.redis ? redis.ensure() : undefined,
    ]);
    lastProgress = undefined;
    send(client, {
      type: 'ready',
      supervisor: process.pid,
      ...(mongo && { mongodb: { url: mongo.url, pid: mongo.pid } }),
      ...(cache && { redis: { url: cache.url, pid: cache.pid } }),
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    log(message);
    send(client, { type: 'failed', message });
  }
}

function accept(client: Socket): void {
  // An error also closes the connection.
  client.on('error', () => undefined);
  // Connections without a request only check for a supervisor, and do not keep it running.
  receive(client, Request, (request) => {
    if (stopping) return send(client, { type: 'stopping' });
    clients.add(client);
    clearTimeout(idle);
    client.once('close', () => {
      clients.delete(client);
      if (clients.size === 0) stopUnlessNeeded(lingerMs);
    });
    void serve(client, request);
  });
}

function stopUnlessNeeded(afterMs: number): void {
  clearTimeout(idle);
  idle = setTimeout(() => void stop('no client needs the servers'), afterMs);
}

/**
 * Stops the servers and exits. The socket stays until the servers have exited: clients get "stopping" meanwhile, and
 * cannot start servers on data that are still being written.
 */
async function stop(why: string): Promise<void> {
  if (stopping) return;
  stopping = true;
  log(`Stopping: ${why}`);
  await Promise.all([mongodb.stop(), redis.stop()]);
  // Closing removes the socket's name immediately; the connections close with the process.
  server?.close();
  process.exit(0);
}

const server = await becomeSupervisor(await socketFolder(dataDir), accept);
if (server) {
  log('Started');
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => void stop(signal));
  // A client may already have connected.
  if (clients.size === 0) stopUnlessNeeded(firstClientTimeoutMs);
}

/**
 * Opens a log file of bounded size; returns a function that writes one line. At `maxBytes` the file becomes `<file>.1`,
 * replacing the previous one. Lines are few and written synchronously, so the last one before a crash is there.
 */
function openBoundedLog(file: string, maxBytes = 5_000_000): (line: string) => void {
  let descriptor = openSync(file, 'a', 0o600);
  let size = fstatSync(descriptor).size;
  return (line) => {
    if (size > maxBytes) {
      closeSync(descriptor);
      renameSync(file, `${file}.1`);
      descriptor = openSync(file, 'a', 0o600);
      size = 0;
    }
    size += writeSync(descriptor, `${line}\n`);
  };
}
