import { loadConfig, settingWarnings } from '../shared/platform/config.ts';
import { messageOf } from '../shared/platform/errors.ts';
import { limitHeapGrowth } from '../shared/platform/garbage-collector.ts';
import { createLogger, openLogStream, printable } from '../shared/platform/log.ts';
import { findServers } from '../shared/embedded/servers.ts';
import { Shutdown } from '../shared/platform/graceful-shutdown.ts';
import { startWorker } from './start.ts';

/** How far the heap may grow beyond the live objects, in percent. Builds of many small files create much garbage. */
const heapGrowthPercent = 10;

/** Runs the worker process: takes jobs until a signal ends it, then finishes the current ones. */
async function main(): Promise<void> {
  limitHeapGrowth(heapGrowthPercent);
  const config = loadConfig();
  const log = createLogger(config, 'worker', await openLogStream(config));
  const shutdown = new Shutdown(log, config.shutdownSeconds);
  shutdown.listen();
  for (const warning of settingWarnings()) log.warn(warning);
  const servers = await findServers(config, (message) => log.info(message));
  servers.failed.catch((error: unknown) => void shutdown.end(messageOf(error), 1));
  const port = await startWorker(config, servers, { log, shutdown });
  shutdown.add('servers', () => servers.release());
  log.info({ concurrency: config.worker.concurrency, port }, 'waiting for exports');
  process.send?.({ ready: true, port });
}

main().catch((error: unknown) => {
  process.stderr.write(`lectern worker: ${printable(messageOf(error))}\n`);
  process.exit(1);
});
