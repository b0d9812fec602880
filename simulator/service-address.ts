/** An address whose path goes on, before its query. */
export function withPathSuffix(address: string, suffix: string): string {
  const url = new URL(address);
  url.pathname += suffix;
  return url.href;
}
