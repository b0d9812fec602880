import type { Socket } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Reply, receive, send } from './protocol.ts';
import type { Request } from './protocol.ts';
import { connectToSupervisor, socketFolder } from './rendezvous.ts';
import { startSupervisor, supervisorLog } from './start-supervisor.ts';
import type { StartedSupervisor } from './start-supervisor.ts';

/** A start without a message for this long has failed; fetches report each megabyte. */
const silenceTimeoutMs = 120_000;
const retryIntervalMs = 50;

export interface EmbeddedServers {
  /** The URL with a database name, like MONGODB_URI; empty if MongoDB was not requested. */
  readonly mongodbUri: string;
  /** The URL, like REDIS_URL; empty if Redis was not requested. */
  readonly redisUrl: string;
  /** Process ids at the start, for diagnosis; a crashed server restarts with another id. */
  readonly processes: { readonly supervisor: number; readonly mongodb?: number; readonly redis?: number };
  /** Releases the servers. They stop about a second after the last process has released them or exited. */
  release(): Promise<void>;
}

export interface AcquireOptions {
  /** The servers' data; all processes with this folder share one set of servers. */
  readonly dataDir: string;
  /** Cache of fetched binaries, for all data directories of the user. */
  readonly cacheDir: string;
  /** Receives messages for the user: progress of fetches, and the loss of the servers. */
  readonly report: (message: string) => void;
  /** Aborts the acquisition; acquired servers are not affected. */
  readonly signal?: AbortSignal;
  /** The required servers; both by default. */
  readonly needs?: { readonly mongodb: boolean; readonly redis: boolean };
}

type Ready = Extract<Reply, { type: 'ready' }>;

/**
 * Returns the embedded MongoDB and Redis of a data directory, and starts them if necessary. They run while any process
 * holds them, and stop afterward, even if the last process was killed. Holding them does not keep this process alive.
 *
 * @throws an error for the user: when no MongoDB is available, a server does not start, or nothing is reported for two
 * minutes; the signal's reason when it is aborted.
 */
export async function acquireEmbeddedServers(options: AcquireOptions): Promise<EmbeddedServers> {
  if (process.platform === 'win32') {
    throw new Error('The embedded servers need Linux or macOS: set MONGODB_URI and REDIS_URL.');
  }
  const dataDir = resolve(options.dataDir);
  const cacheDir = resolve(options.cacheDir);
  const { report, signal, needs = { mongodb: true, redis: true } } = options;
  const folder = await socketFolder(dataDir);
  const startTimeout = limitSilence(dataDir);
  let supervisor: StartedSupervisor | undefined;
  try {
    for (;;) {
      const ending = signal ? AbortSignal.any([signal, startTimeout.signal]) : startTimeout.signal;
      ending.throwIfAborted();
      const socket = await connectToSupervisor(folder);
      if (socket) {
        const ready = await ask(socket, needs, ending, (message) => {
          startTimeout.refresh();
          report(message);
        });
        if (ready) return hold(socket, ready, () => report(lostMessage(dataDir)));
      } else if (!supervisor?.running()) {
        const failure = supervisor?.failure();
        if (failure) throw new Error(`The embedded servers could not be started:\n${failure}`);
        supervisor = startSupervisor(dataDir, cacheDir);
      }
      await delay(retryIntervalMs);
    }
  } finally {
    startTimeout.end();
  }
}

/** Returns whether a supervisor of embedded servers runs on the data directory, even if it is stopping. */
export async function embeddedServersRun(dataDir: string): Promise<boolean> {
  const socket = await connectToSupervisor(await socketFolder(dataDir));
  socket?.destroy();
  return socket !== undefined;
}

function lostMessage(dataDir: string): string {
  return `The embedded servers have ended (see ${supervisorLog(dataDir)}); start Lectern again.`;
}

function limitSilence(dataDir: string) {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    const text = `The embedded servers did not start within ${silenceTimeoutMs / 1000} s`;
    controller.abort(new Error(`${text}; see ${supervisorLog(dataDir)}.`));
  }, silenceTimeoutMs);
  return { signal: controller.signal, refresh: () => timer.refresh(), end: () => clearTimeout(timer) };
}

/** Requests servers. Resolves with undefined if the supervisor exits before it responds; then another one is needed. */
function ask(
  socket: Socket,
  needs: Request,
  signal: AbortSignal,
  onProgress: (message: string) => void,
): Promise<Ready | undefined> {
  return new Promise((resolve, reject) => {
    let answered = false;
    const abort = () => {
      socket.destroy();
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', abort, { once: true });
    const answer = (settle: () => void) => {
      answered = true;
      signal.removeEventListener('abort', abort);
      settle();
    };
    // An error also closes the connection.
    socket.on('error', () => undefined);
    socket.once('close', () => answer(() => resolve(undefined)));
    receive(socket, Reply, (reply) => {
      if (answered) return;
      switch (reply.type) {
        case 'progress':
          onProgress(reply.message);
          break;
        case 'ready':
          answer(() => resolve(reply));
          break;
        case 'failed':
          answer(() => reject(new Error(reply.message)));
          socket.destroy();
          break;
        case 'stopping':
          answer(() => resolve(undefined));
          socket.destroy();
          break;
      }
    });
    send(socket, needs);
  });
}

function hold(socket: Socket, ready: Ready, onLost: () => void): EmbeddedServers {
  socket.unref();
  socket.once('close', onLost);
  return {
    mongodbUri: ready.mongodb?.url ?? '',
    redisUrl: ready.redis?.url ?? '',
    processes: {
      supervisor: ready.supervisor,
      ...(ready.mongodb && { mongodb: ready.mongodb.pid }),
      ...(ready.redis && { redis: ready.redis.pid }),
    },
    async release() {
      socket.off('close', onLost);
      if (socket.destroyed) return;
      await new Promise((closed) => socket.once('close', closed).destroy());
    },
  };
}
