import { Presets, SingleBar } from 'cli-progress';
import type { FileProgress } from '../../shared/packages/watch-files.ts';
import { formatBytes } from './output.ts';

/**
 * A bar on stderr for files and bytes; nothing where stderr is no terminal, so that logs hold no half lines.
 *
 * @param label what is being done.
 */
export function fileProgressBar(label: string): { update(progress: FileProgress): void; stop(): void } {
  const bar = new SingleBar(
    {
      format: `${label} [{bar}] {value}/{total} files, {size}`,
      stream: process.stderr,
      hideCursor: true,
      noTTYOutput: false,
      linewrap: false,
    },
    Presets.shades_classic,
  );
  let started = false;
  return {
    update({ done, total, bytes }) {
      const payload = { size: formatBytes(bytes) };
      if (started) bar.update(done, payload);
      else bar.start(total, done, payload);
      started = true;
    },
    stop() {
      if (started) bar.stop();
      started = false;
    },
  };
}
