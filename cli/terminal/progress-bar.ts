import { Presets, SingleBar } from 'cli-progress';
import type { FileProgress } from '../../shared/packages/watch-files.ts';
import { formatBytes } from '../../shared/platform/format-bytes.ts';

/**
 * Returns a progress bar on stderr for files and bytes. It shows nothing unless stderr is a terminal, so that logs have
 * no partial lines.
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
