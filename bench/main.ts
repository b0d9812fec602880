/*
 * `npm run bench -- export [rounds] [loopback|latency|http2|stored]`, `npm run bench -- fleet [scaling|hand-over]`,
 * `npm run bench -- downloads [rounds]`,
 * `npm run bench -- api [rounds] [seconds]`, `npm run bench -- player [rounds]`,
 * `npm run bench -- lti [rounds] [launches]`, `npm run bench -- webhooks [rounds] [folder of another checkout]`:
 * measurements against named baselines.
 */

const benches = new Map<string | undefined, () => Promise<unknown>>([
  ['export', () => import('./export/main.ts')],
  ['fleet', () => import('./fleet/main.ts')],
  ['downloads', () => import('./downloads/main.ts')],
  ['api', () => import('./api/main.ts')],
  ['player', () => import('./player/main.ts')],
  ['lti', () => import('./lti/main.ts')],
  ['webhooks', () => import('./webhooks/main.ts')],
]);

const run = benches.get(process.argv[2]);
if (run === undefined) {
  console.error(`Usage: npm run bench -- ${[...benches.keys()].join('|')} [rounds]`);
  process.exitCode = 2;
} else {
  await run();
}
