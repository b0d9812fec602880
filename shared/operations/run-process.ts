import { setFlagsFromString } from 'node:v8';
import { findServers } from '../embedded/servers.ts';
import type { ServerUrls } from '../embedded/embedded-servers.ts';
import { loadConfig, settingWarnings } from '../platform/config.ts';
import type { Config } from '../platform/config.ts';
import { messageOf } from '../platform/errors.ts';
import { Shutdown } from '../platform/graceful-shutdown.ts';
import { createLogger, openLogStream, printable } from '../platform/log.ts';
import type { Logger } from '../platform/log.ts';

interface ProcessKind {
  /** For the log: `api`. */
  name: string;
  /** How far the heap may grow beyond the live objects, in percent. With a smaller value, V8 collects more often. */
  heapGrowthPercent: number;
  /** Starts the work, and registers its graceful shutdown. Returns what the parent process gets as a message. */
  start: (
    config: Config,
    servers: ServerUrls,
    deps: { log: Logger; shutdown: Shutdown },
  ) => Promise<Record<string, unknown>>;
}

/** Runs this process: reads the settings, finds the servers, and starts. A signal ends it gracefully. */
export function runProcess(kind: ProcessKind): void {
  run(kind).catch((error: unknown) => {
    process.stderr.write(`lectern ${kind.name}: ${printable(messageOf(error))}\n`);
    process.exit(1);
  });
}

async function run({ name, heapGrowthPercent, start }: ProcessKind): Promise<void> {
  limitHeapGrowth(heapGrowthPercent);
  const config = loadConfig();
  const log = createLogger(config, name, await openLogStream(config));
  const shutdown = new Shutdown(log, config.shutdownSeconds);
  shutdown.listen();
  for (const warning of settingWarnings()) log.warn(warning);
  const servers = await findServers(config, (message) => log.info(message));
  servers.failed.catch((error: unknown) => void shutdown.end(messageOf(error), 1));
  const started = await start(config, servers, { log, shutdown });
  shutdown.add('servers', () => servers.release());
  process.send?.(started);
}

/**
 * Limits how far V8's heap may grow before a garbage collection, so that the process takes less memory. By default, it
 * may grow to four times the size of the live objects on machines with much memory.
 *
 * Marking begins when 90% of the growth is used. By default it begins when 16 MB are left, which in a small heap is so
 * early that the buffers of downloads cause seven to nine collections in a build of 64 MiB.
 */
function limitHeapGrowth(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
  setFlagsFromString('--incremental-marking-soft-trigger=90');
  setFlagsFromString('--incremental-marking-hard-trigger=98');
}
