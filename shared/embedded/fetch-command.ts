import { touchAndMeasure } from './fetch-folder.ts';
import { spawnGuarded } from './guarded-process.ts';

/** A fetch that brings no byte for so long has failed; one that makes progress may take any time. */
const stallTimeoutMs = 60_000;
const pollIntervalMs = 500;

export interface FetchCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** Everything that the command writes goes here; its growth is the progress. */
  readonly folder: string;
  /** Called with the bytes so far, whenever there are more. */
  readonly progress: (bytes: number) => void;
  readonly signal: AbortSignal;
}

/**
 * Runs a command that downloads into a folder, and resolves with the lines it printed. Throws with its last
 * line when it fails, when it stalls for a minute, and the signal's reason when that is aborted; the
 * command is dead by then.
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
  const look = async () => {
    const now = await touchAndMeasure(fetch.folder);
    if (now > bytes) {
      bytes = now;
      grewAt = Date.now();
      fetch.progress(bytes);
    } else if (Date.now() - grewAt > stallTimeoutMs) {
      kill();
    }
  };
  // A look that fails (the folder was removed under us) must not end the process: the command will say why.
  const looking = setInterval(() => void look().catch(() => undefined), pollIntervalMs);
  const how = await child.exited.finally(() => {
    clearInterval(looking);
    fetch.signal.removeEventListener('abort', kill);
  });
  fetch.signal.throwIfAborted();
  if (how === 'exit code 0') return lines;
  if (Date.now() - grewAt > stallTimeoutMs) throw new Error(`no byte came for ${stallTimeoutMs / 1000} s`);
  throw new Error(lines.at(-1) ?? how);
}
