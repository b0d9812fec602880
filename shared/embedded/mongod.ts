import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { startOnPort, startServer } from './server-process.ts';
import type { RunningServer } from './server-process.ts';

/** Recovery after a crash reads the journal before the first connection is taken. */
const startTimeoutMs = 60_000;
/** How long a mongod that is still ending may keep the data folder from its successor. */
const lockTimeoutMs = 30_000;

export interface MongodOptions {
  /** The mongod to run, see `findMongod`. */
  readonly binary: string;
  /** The folder of the data, made when missing, kept afterwards. */
  readonly dbPath: string;
  /** The port of loopback to listen on; a free one unless given. */
  readonly port?: number;
  /** Takes each line of the server's output, JSON as MongoDB writes it. */
  readonly log?: (line: string) => void;
  /** Ends a start that is under way. */
  readonly signal?: AbortSignal;
}

/**
 * Starts one mongod on loopback over a data folder. Its process ends with this one at the latest; the data
 * stay. `stop()` lets it close its files, `kill()` does not, and either can be started from again.
 * A data folder that another mongod is just leaving is waited for, up to 30 s. Throws with the end of the log.
 */
export async function startMongod(options: MongodOptions): Promise<RunningServer> {
  await mkdir(options.dbPath, { recursive: true, mode: 0o700 });
  const giveUpAt = Date.now() + lockTimeoutMs;
  for (;;) {
    try {
      return await startOnPort(options.port, (port) => startOnce(options, port));
    } catch (error) {
      const locked = error instanceof Error && error.message.includes('DBPathInUse');
      if (!locked || Date.now() > giveUpAt) throw error;
      await delay(250);
    }
  }
}

async function startOnce(options: MongodOptions, port: number): Promise<RunningServer> {
  const settings: Record<string, string> = {
    dbpath: options.dbPath,
    port: String(port),
    bind_ip: '127.0.0.1',
    wiredTigerCacheSizeGB: '0.25',
    setParameter: 'diagnosticDataCollectionEnabled=false',
  };
  const child = await startServer({
    name: 'MongoDB',
    command: options.binary,
    args: [
      '--nounixsocket',
      '--quiet',
      ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
    ],
    ready: /waiting for connections/i,
    readable: readableLogLine,
    telling: (line) => /"s":"[WEF]"/.test(line),
    timeoutMs: startTimeoutMs,
    log: options.log,
    signal: options.signal,
  });
  return { ...child, port, url: `mongodb://127.0.0.1:${port}/lectern` };
}

/** The part of MongoDB's structured log (since 4.4) that tells a person what went on. */
const LogLine = z.object({
  s: z.string(),
  c: z.string(),
  msg: z.string(),
  attr: z.record(z.string(), z.unknown()).optional(),
});

/** "E STORAGE Failed to open: {"error":...}" for a line of MongoDB's JSON log, cut at 300 characters. */
export function readableLogLine(line: string): string {
  try {
    const { s, c, msg, attr } = LogLine.parse(JSON.parse(line));
    return `${s} ${c} ${msg}${attr ? `: ${JSON.stringify(attr)}` : ''}`.slice(0, 300);
  } catch {
    return line.slice(0, 300);
  }
}
