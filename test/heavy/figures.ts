/** Prints a figure of a heavy test, for the documentation. */
export function printFigure(name: string, figures: Record<string, string | number>): void {
  const words = Object.entries(figures).map(([what, value]) => `${what} ${shorten(value)}`);
  process.stdout.write(`  ${name}: ${words.join(', ')}\n`);
}

function shorten(value: string | number): string {
  return typeof value === 'number' && !Number.isInteger(value) ? value.toFixed(1) : String(value);
}
