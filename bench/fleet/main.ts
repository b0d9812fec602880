import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prepareInstallation } from '../installation.ts';
import { writeSamplePackage } from '../sample-package.ts';
import { measureHandOver } from './hand-over.ts';
import { measureScaling } from './scaling.ts';

/*
 * Measures a fleet: exports per minute by number of worker processes when a slow origin takes most of the time, and the
 * time until a job starts.
 */

/** The name of the only part to run; all by default. */
const part = process.argv[3];
const workerCounts = [1, 2, 4, 8];
const handOverRequests = 200;
const far = { files: 24, bytes: 24 * 20_000, milliseconds: 200 };
const tiny = { files: 1, bytes: 1000 };

const samples = await mkdtemp(join(tmpdir(), 'lectern-samples-'));
for (const [name, sample] of Object.entries({ far, tiny }))
  await writeSamplePackage(join(samples, name), sample);
const origin = fork(join(import.meta.dirname, 'slow-origin.ts'), [
  String(far.bytes / far.files),
  String(far.milliseconds),
]);
const [{ port }] = (await once(origin, 'message')) as [{ port: number }];
const installation = await prepareInstallation({ LECTERN_ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${port}` });

console.log(`Node ${process.version}, all processes on the same machine`);

if (part === undefined || part === 'scaling') await reportScaling();
if (part === undefined || part === 'hand-over') await reportHandOver();

origin.disconnect();
await installation.remove();
await rm(samples, { recursive: true });

async function reportScaling(): Promise<void> {
  const rates = await measureScaling(
    installation,
    { packageFolder: join(samples, 'far'), originUrl: `http://127.0.0.1:${port}` },
    workerCounts,
  );
  console.log(
    `\nCold exports of ${far.files} files from an origin that takes ${far.milliseconds} ms per file`,
  );
  const one = rates.get(1) ?? NaN;
  for (const [workers, rate] of rates) {
    const columns = [
      `${rate.toFixed(0).padStart(6)} per minute`,
      `${(rate / one).toFixed(2)} times one worker's`,
    ];
    console.log(`  ${`${workers} worker processes`.padEnd(36)} ${columns.join('  ')}`);
  }
}

async function reportHandOver(): Promise<void> {
  const { p50, p99 } = await measureHandOver(installation, join(samples, 'tiny'), handOverRequests);
  console.log(`\nFrom a request to the start of its job, ${handOverRequests} sequential requests`);
  console.log(`  p50 ${p50} ms, p99 ${p99} ms`);
}
