import { setFlagsFromString } from 'node:v8';
import { loadConfig, settingWarnings } from '../shared/platform/config.ts';
import { messageOf } from '../shared/platform/errors.ts';
import { createLogger, openLogStream, printable } from '../shared/platform/log.ts';
import { findServers } from '../shared/embedded/servers.ts';
import { Shutdown } from '../shared/platform/shutdown.ts';
import { startWorker } from './start.ts';

/**
 * When V8 collects garbage. Builds of many small files create much garbage, so the heap may grow by only 10% beyond the
 * live objects and the young generation. By default it may grow up to four times as large on machines with much memory.
 * Marking begins when 90% of that growth is used. By default it begins when 16 MB are left, which in a small heap is so
 * early that the buffers of downloads cause several collections in each build of 64 MiB.
 */
const collectorFlags = [
  '--heap-growing-percent=10',
  '--incremental-marking-soft-trigger=90',
  '--incremental-marking-hard-trigger=98',
];

/** Runs the worker process: takes jobs until a signal ends it, then finishes the current ones. */
async function main(): Promise<void> {
  for (const flag of collectorFlags) setFlagsFromString(flag);
  const config = loadConfig();
  const log = createLogger(config, 'worker', await openLogStream(config));
  const shutdown = new Shutdown(log, config.shutdownSeconds);
  shutdown.listen();
  for (const warning of settingWarnings()) log.warn(warning);
  const servers = await findServers(config, (message) => log.info(message));
  const port = await startWorker(config, servers, { log, shutdown });
  shutdown.add('servers', () => servers.release());
  log.info({ concurrency: config.worker.concurrency, port }, 'waiting for exports');
  process.send?.({ ready: true, port });
}

main().catch((error: unknown) => {
  process.stderr.write(`lectern worker: ${printable(messageOf(error))}\n`);
  process.exit(1);
});
