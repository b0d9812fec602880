const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** Formats a size for people: "3.4 MB". */
export function formatBytes(bytes: number): string {
  const step = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1);
  const value = bytes / 1000 ** step;
  return `${step === 0 ? String(value) : value.toFixed(1)} ${units[step] ?? ''}`;
}
