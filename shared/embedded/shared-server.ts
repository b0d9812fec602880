import type { RunningServer } from './server-process.ts';

/** More crashes per minute mean that restarting does not help. */
const maxRestartsPerMinute = 5;

export interface SharedServerOptions {
  readonly name: string;
  readonly start: (options: { port?: number; signal: AbortSignal }) => Promise<RunningServer>;
  readonly log: (message: string) => void;
  /** Called when the server has exited and cannot restart. */
  readonly onLost: () => void;
}

export interface SharedServer {
  /** Returns the running server; the first call starts it. After a failed start the next call retries. */
  ensure(): Promise<RunningServer>;
  /** Stops the server, or its start. */
  stop(): Promise<void>;
}

/**
 * Creates a server that starts on demand. If it exits by itself, it restarts on the same port, so that clients only
 * have to reconnect.
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
    log(`${name} has exited (${how}) and restarts`);
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
