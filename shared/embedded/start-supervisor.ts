import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { nodeArguments } from './commands.ts';

const maxLogBytes = 1_000_000;

export interface StartedSupervisor {
  /** Returns whether its process runs. It exits at once if there is another supervisor. */
  running(): boolean;
  /** Returns the end of its log if it exited with an error. */
  failure(): string | undefined;
}

/** Returns the log file of a data directory's supervisors. */
export function supervisorLog(dataDir: string): string {
  return join(dataDir, 'embedded.log');
}

/**
 * Starts a supervisor for a data directory in its own session. Ctrl-C and the end of this process do not affect it,
 * because other processes may need its servers.
 */
export function startSupervisor(dataDir: string, cacheDir: string): StartedSupervisor {
  const file = supervisorLog(dataDir);
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > maxLogBytes) renameSync(file, `${file}.1`);
  const log = openSync(file, 'a', 0o600);
  const args = [...nodeArguments('supervisor'), JSON.stringify({ dataDir, cacheDir })];
  const child = spawn(process.execPath, args, {
    cwd: dataDir,
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();

  let running = true;
  let failure: string | undefined;
  child.once('exit', (code, signal) => {
    running = false;
    if (code !== 0 && signal === null) failure = readFileSync(file, 'utf8').slice(-2000);
  });
  child.once('error', (error) => {
    running = false;
    failure = error.message;
  });
  return { running: () => running, failure: () => failure };
}
