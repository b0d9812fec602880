/*
 * Measurements against named baselines, as `npm run bench -- NAME [options]`:
 *
 *     export [rounds] [loopback|latency|http2|stored|packages]    downloads [rounds] [folder|bucket]
 *     fleet [scaling|hand-over]                          api [rounds] [seconds]
 *     player [rounds] [folder of another checkout]       lti [rounds] [launches]
 *     growth [rounds] [seconds] [records,...]            learners [learners] [minutes] [pause]
 *     webhooks [rounds] [folder of another checkout]     start [rounds]
 *     books [rounds] [seconds]                           lists [learners] [statistics]
 *     privacy [rounds] [learners,...] [entries]          hostile [children|worker|api]
 *     first [rounds]                                     pages [learners] [rounds]
 *     editor [keys] [steps]
 */

const benches = new Map<string | undefined, () => Promise<unknown>>([
  ['export', () => import('./export/main.ts')],
  ['first', () => import('./export/first.ts')],
  ['fleet', () => import('./fleet/main.ts')],
  ['downloads', () => import('./downloads/main.ts')],
  ['api', () => import('./api/main.ts')],
  ['player', () => import('./player/main.ts')],
  ['books', () => import('./books/main.ts')],
  ['growth', () => import('./growth/main.ts')],
  ['learners', () => import('./growth/learners.ts')],
  ['lists', () => import('./lists/main.ts')],
  ['pages', () => import('./lists/pages.ts')],
  ['start', () => import('./start/main.ts')],
  ['editor', () => import('./editor/main.ts')],
  ['lti', () => import('./lti/main.ts')],
  ['privacy', () => import('./privacy/main.ts')],
  ['hostile', () => import('./hostile/main.ts')],
  ['webhooks', () => import('./webhooks/main.ts')],
]);

const run = benches.get(process.argv[2]);
if (run === undefined) {
  console.error(`Usage: npm run bench -- ${[...benches.keys()].join('|')} [rounds]`);
  process.exitCode = 2;
} else {
  await run();
}
