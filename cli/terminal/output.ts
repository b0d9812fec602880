import { printable } from '../../shared/platform/printable.ts';

/** A result, on stdout, where programs read it. In JSON, what is written out means the same. */
export function print(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

/** A message about the work itself; on stderr, so that stdout stays readable by programs. */
export function note(message: string): void {
  process.stderr.write(`${printable(message)}\n`);
}

/** Rows under a header, in columns. */
export function table(header: string[], rows: string[][]): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  return [header, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** A size for people: "3.4 MB". */
export function formatBytes(bytes: number): string {
  const step = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const value = bytes / 1000 ** step;
  return `${step === 0 ? String(value) : value.toFixed(1)} ${units[step] ?? ''}`;
}

/** "1 file", "2 files". */
export function count(number: number, singular: string, plural = `${singular}s`): string {
  return `${number} ${number === 1 ? singular : plural}`;
}
