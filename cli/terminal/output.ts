import { printable } from '../../shared/platform/log.ts';

/** Prints a result to stdout, for programs. Control characters are escaped, in JSON without a change of meaning. */
export function print(text: string): void {
  process.stdout.write(`${printable(text)}\n`);
}

/** Prints a message to stderr, so that programs can read stdout. */
export function note(message: string): void {
  process.stderr.write(`${printable(message)}\n`);
}

/** Aligns rows under a header in columns. */
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

/** Formats a number of things: "1 file", "2 files". */
export function count(number: number, singular: string, plural = `${singular}s`): string {
  return `${number} ${number === 1 ? singular : plural}`;
}
