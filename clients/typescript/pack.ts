import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { lessonSchema } from '../../shared/packages/lesson-schema.ts';
import { packageRoot } from '../../shared/platform/paths.ts';

const here = import.meta.dirname;
/** The package that the API serves at /client.tgz, and the digest of its sources. */
const output = join(packageRoot, 'player/dist/client');
const [archive, stamp] = [join(output, 'client.tgz'), join(output, 'sources.sha256')];

/** Packs the client, unless it is packed. */
export async function packClient(): Promise<void> {
  const digest = await digestOfSources();
  const [packed] = await Promise.all([readFile(stamp, 'utf8'), readFile(archive)]).catch(() => ['']);
  if (packed === digest) return;
  await mkdir(output, { recursive: true });
  const folder = await mkdtemp(join(output, 'pack-'));
  try {
    const options = ['-w', 'clients/typescript', '--pack-destination', folder, '--silent'];
    await promisify(execFile)('npm', ['pack', ...options], { cwd: packageRoot });
    const [name = ''] = await readdir(folder);
    await rename(join(folder, name), archive);
    await writeFile(stamp, digest);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function digestOfSources(): Promise<string> {
  const sources = (await readdir(join(here, 'src'))).sort().map((name) => `src/${name}`);
  const names = ['package.json', 'README.md', 'LICENSE', 'tsconfig.json', 'build.ts', ...sources];
  const hash = createHash('sha256').update(JSON.stringify(lessonSchema()));
  for (const name of names) hash.update(`${name}\0`).update(await readFile(join(here, name)));
  return hash.digest('hex');
}

if (process.argv[1] === import.meta.filename) await packClient();
