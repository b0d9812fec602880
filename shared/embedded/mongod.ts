import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { startOnPort, startServer } from './server-process.ts';
import type { RunningServer } from './server-process.ts';

/** Includes recovery after a crash, which reads the journal first. */
const startTimeoutMs = 60_000;
/** How long a stopping mongod may lock the data folder. */
const lockTimeoutMs = 30_000;

export interface MongodOptions {
  /** The mongod to run, from `findMongod`. */
  readonly binary: string;
  /** The data folder; created if missing, and never removed. */
  readonly dbPath: string;
  /** The port on loopback; a free one by default. */
  readonly port?: number;
  /** Receives each line of the server's output, JSON as MongoDB writes it. */
  readonly log?: (line: string) => void;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
}

/**
 * Starts a mongod on loopback, which ends with this process at the latest. `stop()` closes its files, `kill()` does
 * not; it can restart from either. Waits up to 30 s for another mongod to release the data folder.
 *
 * @throws an error with the end of the log.
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
    isFault: (line) => /"s":"[WEF]"/.test(line),
    timeoutMs: startTimeoutMs,
    log: options.log,
    signal: options.signal,
  });
  return { ...child, port, url: `mongodb://127.0.0.1:${port}/lectern` };
}

/** The fields of MongoDB's structured log (since 4.4) that people need. */
const LogLine = z.object({
  s: z.string(),
  c: z.string(),
  msg: z.string(),
  attr: z.record(z.string(), z.unknown()).optional(),
});

/**
 * Returns a line of MongoDB's JSON log for people, such as "E STORAGE Failed to open: {"error":...}", at most 300
 * characters.
 */
export function readableLogLine(line: string): string {
  try {
    const { s, c, msg, attr } = LogLine.parse(JSON.parse(line));
    return `${s} ${c} ${msg}${attr ? `: ${JSON.stringify(attr)}` : ''}`.slice(0, 300);
  } catch {
    return line.slice(0, 300);
  }
}
