import { touchAndMeasure } from './fetch-folder.ts';
import { spawnGuarded } from './guarded-process.ts';

/** A fetch without a byte for this long has failed; one with progress may take any time. */
const stallTimeoutMs = 60_000;
const pollIntervalMs = 500;

export interface FetchCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** The folder of all output files, whose growth is the progress. */
  readonly folder: string;
  /** Called with the bytes so far, whenever they grow. */
  readonly progress: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Runs a command that downloads into a folder; resolves with its output lines.
 *
 * @throws with the command's last line when it fails; when it stalls for a minute; the signal's reason when it is
 * aborted. The command has ended by then.
 */
export async function runFetch(fetch: FetchCommand): Promise<string[]> {
  fetch.signal.throwIfAborted();
  const lines: string[] = [];
  const child = spawnGuarded(fetch.command, fetch.args, (line) => {
    if (line.trim() === '') return;
    lines.push(line.trim());
    if (lines.length > 100) lines.shift();
  });
  const kill = () => child.kill();
  fetch.signal.addEventListener('abort', kill, { once: true });

  let bytes = 0;
  let grewAt = Date.now();
  const poll = async () => {
    const now = await touchAndMeasure(fetch.folder);
    if (now > bytes) {
      bytes = now;
      grewAt = Date.now();
      fetch.progress(bytes);
    } else if (Date.now() - grewAt > stallTimeoutMs) {
      kill();
    }
  };
  // A failing poll (the folder was removed) must not crash the process; the command reports the reason.
  const polling = setInterval(() => void poll().catch(() => undefined), pollIntervalMs);
  const how = await child.exited.finally(() => {
    clearInterval(polling);
    fetch.signal.removeEventListener('abort', kill);
  });
  fetch.signal.throwIfAborted();
  if (how === 'exit code 0') return lines;
  if (Date.now() - grewAt > stallTimeoutMs) throw new Error(`no byte arrived for ${stallTimeoutMs / 1000} s`);
  throw new Error(lines.at(-1) ?? how);
}
