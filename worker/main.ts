import { setFlagsFromString } from 'node:v8';
import { loadConfig, settingWarnings } from '../shared/platform/config.ts';
import { messageOf } from '../shared/platform/errors.ts';
import { createLogger, openLogStream } from '../shared/platform/log.ts';
import { printable } from '../shared/platform/printable.ts';
import { findServers } from '../shared/embedded/servers.ts';
import { Shutdown } from '../shared/platform/shutdown.ts';
import { startWorker } from './start.ts';

/**
 * After how much new garbage V8 collects all of it, in percent of what is alive. By itself it waits for up to four
 * times that where a machine has much memory, and a build of many small files makes garbage without end.
 */
const garbagePercent = 20;

/** The export process: takes jobs until it is told to end, then finishes those it has. */
async function main(): Promise<void> {
  setFlagsFromString(`--heap-growing-percent=${garbagePercent}`);
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
