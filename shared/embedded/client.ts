import type { Socket } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Reply, receive, send } from './protocol.ts';
import type { Request } from './protocol.ts';
import { connectToSupervisor, socketFolder } from './rendezvous.ts';
import { startSupervisor, supervisorLog } from './start-supervisor.ts';
import type { StartedSupervisor } from './start-supervisor.ts';

/** A start of which nothing was heard for so long has failed. A fetch is heard of with each megabyte. */
const silenceTimeoutMs = 120_000;
const retryIntervalMs = 50;

export interface EmbeddedServers {
  /** Address with a database name, as MONGODB_URI has it; empty when MongoDB was not asked for. */
  readonly mongodbUri: string;
  /** Address as REDIS_URL has it; empty when Redis was not asked for. */
  readonly redisUrl: string;
  /** Process ids at the start, for diagnosis; a server that crashes is started again under another id. */
  readonly processes: { readonly supervisor: number; readonly mongodb?: number; readonly redis?: number };
  /** Gives the servers up. They end about a second after the last process has done so, or has ended. */
  release(): Promise<void>;
}

export interface AcquireOptions {
  /** The servers keep their data here, and all processes that name this folder share one set of them. */
  readonly dataDir: string;
  /** Fetched binaries are kept here, for all data directories of the user. */
  readonly cacheDir: string;
  /** Takes lines for the user: what is fetched, how far it is, and later that the servers were lost. */
  readonly report: (message: string) => void;
  /** Ends the waiting; it has no effect on servers that were acquired. */
  readonly signal?: AbortSignal;
  /** Which servers are needed; both unless told. */
  readonly needs?: { readonly mongodb: boolean; readonly redis: boolean };
}

type Ready = Extract<Reply, { type: 'ready' }>;

/**
 * The embedded MongoDB and Redis of a data directory: those that run already, else new ones. They live as long
 * as one process holds them, and end by themselves afterwards, whatever way the last one ended. Holding them
 * does not keep this process alive. Throws an error that can be shown to the user: when no MongoDB can be had,
 * when a server does not start, when nothing is heard for two minutes, and the signal's reason.
 */
export async function acquireEmbeddedServers(options: AcquireOptions): Promise<EmbeddedServers> {
  if (process.platform === 'win32') {
    throw new Error('The embedded servers need Linux or macOS: set MONGODB_URI and REDIS_URL.');
  }
  const dataDir = resolve(options.dataDir);
  const cacheDir = resolve(options.cacheDir);
  const { report, signal, needs = { mongodb: true, redis: true } } = options;
  const folder = await socketFolder(dataDir);
  const silence = watchSilence(dataDir);
  let supervisor: StartedSupervisor | undefined;
  try {
    for (;;) {
      const ending = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
      ending.throwIfAborted();
      const socket = await connectToSupervisor(folder);
      if (socket) {
        const ready = await ask(socket, needs, ending, (message) => {
          silence.broken();
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
    silence.end();
  }
}

/** Whether a supervisor of embedded servers runs on the data directory (also one that is just ending). */
export async function embeddedServersRun(dataDir: string): Promise<boolean> {
  const socket = await connectToSupervisor(await socketFolder(dataDir));
  socket?.destroy();
  return socket !== undefined;
}

function lostMessage(dataDir: string): string {
  return `The embedded servers have ended (see ${supervisorLog(dataDir)}); start Lectern again.`;
}

function watchSilence(dataDir: string) {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    const text = `The embedded servers did not start within ${silenceTimeoutMs / 1000} s`;
    controller.abort(new Error(`${text}; see ${supervisorLog(dataDir)}.`));
  }, silenceTimeoutMs);
  return { signal: controller.signal, broken: () => timer.refresh(), end: () => clearTimeout(timer) };
}

/** Resolves with undefined when the supervisor ends before it has an answer: then another one is needed. */
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
    // What breaks the connection also closes it.
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
