import type { RunningServer } from './server-process.ts';

/** More crashes than this in a minute mean that starting the server again does not help. */
const maxRestartsPerMinute = 5;

export interface SharedServerOptions {
  readonly name: string;
  readonly start: (options: { port?: number; signal: AbortSignal }) => Promise<RunningServer>;
  readonly log: (message: string) => void;
  /** Called when the server has ended and cannot be started again. */
  readonly onLost: () => void;
}

export interface SharedServer {
  /** The running server, started at the first call. A start that failed is tried anew at the next call. */
  ensure(): Promise<RunningServer>;
  /** Ends the server, or its start. */
  stop(): Promise<void>;
}

/**
 * A server that is started when it is first asked for. When it ends by itself, it is started again on the same
 * port, so that clients only have to connect again.
 */
export function createSharedServer(options: SharedServerOptions): SharedServer {
  const { name, start, log, onLost } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  let current: Promise<RunningServer> | undefined;
  let restarts: number[] = [];

  async function run(port?: number): Promise<RunningServer> {
    const server = await start({ signal, ...(port !== undefined && { port }) });
    log(`${name} runs on ${server.url} (process ${server.pid})`);
    void server.exited.then((how) => {
      if (!signal.aborted) restart(server.port, how);
    });
    return server;
  }

  function restart(port: number, how: string): void {
    log(`${name} has ended (${how}) and is started again`);
    restarts = [...restarts.filter((at) => Date.now() - at < 60_000), Date.now()];
    if (restarts.length > maxRestartsPerMinute) return onLost();
    current = run(port);
    current.catch((error: unknown) => {
      if (signal.aborted) return;
      log(String(error));
      onLost();
    });
  }

  return {
    ensure() {
      if (current === undefined) {
        const started = run();
        current = started;
        started.catch(() => {
          if (current === started) current = undefined;
        });
      }
      return current;
    },
    async stop() {
      stopping.abort();
      const server = await current?.catch(() => undefined);
      await server?.stop();
    },
  };
}
