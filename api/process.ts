import { loadConfig, settingWarnings } from '../shared/platform/config.ts';
import type { Config } from '../shared/platform/config.ts';
import { messageOf } from '../shared/platform/errors.ts';
import { limitHeapGrowth } from '../shared/platform/garbage-collector.ts';
import { createLogger, openLogStream, printable } from '../shared/platform/log.ts';
import type { Logger } from '../shared/platform/log.ts';
import { recordRunningApi } from '../shared/operations/running-api.ts';
import { findServers } from '../shared/embedded/servers.ts';
import { Shutdown } from '../shared/platform/graceful-shutdown.ts';
import { startApi } from './start.ts';

/** How far the heap may grow beyond the live objects, in percent. Pages of large books create much garbage. */
const heapGrowthPercent = 50;

/** Starts the API process: configuration, connections, server; shutdown reverses these steps. */
async function main(): Promise<void> {
  limitHeapGrowth(heapGrowthPercent);
  const config = loadConfig();
  const log = createLogger(config, 'api', await openLogStream(config));
  const shutdown = new Shutdown(log, config.shutdownSeconds);
  shutdown.listen();
  for (const warning of settingWarnings()) log.warn(warning);
  if (config.publicUrl?.startsWith('http:') && !isLoopback(config.publicUrl)) {
    log.warn(
      { publicUrl: config.publicUrl },
      'PUBLIC_URL is not HTTPS: credentials and tokens travel in the clear',
    );
  }
  const servers = await findServers(config, (message) => log.info(message));
  servers.failed.catch((error: unknown) => void shutdown.end(messageOf(error), 1));
  const { port, metricsPort } = await startApi(config, servers, { log, shutdown });
  shutdown.add('servers', () => servers.release());
  if (config.publicUrl === undefined) await recordUrl(config, port, { log, shutdown });
  log.info({ port, metricsPort, host: config.host }, 'listening');
  process.send?.({ port, metricsPort });
}

/** Records this process's URL, so that commands in other terminals can print links. A failure is only logged. */
async function recordUrl(
  config: Config,
  port: number,
  { log, shutdown }: { log: Logger; shutdown: Shutdown },
): Promise<void> {
  try {
    shutdown.add('record', await recordRunningApi(config, port));
  } catch (error) {
    log.warn({ err: error }, 'the data directory is not writable, so commands may print wrong links');
  }
}

function isLoopback(url: string): boolean {
  return ['localhost', '127.0.0.1', '[::1]'].includes(new URL(url).hostname);
}

main().catch((error: unknown) => {
  process.stderr.write(`lectern api: ${printable(messageOf(error))}\n`);
  process.exit(1);
});
