import { execFileSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import type { BuildOptions } from 'esbuild';
import { lessonSchema } from '../../shared/packages/lesson-schema.ts';

/** The maximum size of the module in the package, gzipped. */
export const maxGzippedBytes = 8_000;

const here = import.meta.dirname;

const common = {
  entryPoints: [join(here, 'src/index.ts')],
  bundle: true,
  format: 'esm' as const,
  target: 'es2022',
  platform: 'neutral' as const,
  external: ['node:*'] as string[],
  minify: true,
  // Those of errors and functions, for stack traces.
  keepNames: true,
} satisfies BuildOptions;

/** Returns the size of the module in the package, gzipped. */
export async function gzippedBytes(): Promise<number> {
  const { outputFiles } = await build({ ...common, write: false });
  return gzipSync(outputFiles[0]?.contents ?? '', { level: 9 }).length;
}

/** Writes `dist/`: one module, its types, and the schema of lesson.json. */
async function buildPackage(): Promise<void> {
  await rm(join(here, 'dist'), { recursive: true, force: true });
  await build({ ...common, outfile: join(here, 'dist/index.js') });
  await writeFile(join(here, 'dist/lesson.schema.json'), JSON.stringify(lessonSchema()));
  const options = [
    '--noEmit',
    'false',
    '--declaration',
    '--emitDeclarationOnly',
    '--outDir',
    join(here, 'dist'),
  ];
  execFileSync('npx', ['tsc', '-p', join(here, 'tsconfig.json'), ...options], { stdio: 'inherit' });
  for (const name of await readdir(join(here, 'dist'))) {
    if (!name.endsWith('.d.ts')) continue;
    const path = join(here, 'dist', name);
    // Without the sources, TypeScript resolves only names that end in .js.
    await writeFile(path, (await readFile(path, 'utf8')).replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'"));
  }
  const bytes = await gzippedBytes();
  if (bytes > maxGzippedBytes) throw new Error(`the client has ${bytes} bytes, more than ${maxGzippedBytes}`);
  const { name, version } = JSON.parse(await readFile(join(here, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  process.stderr.write(`Built ${name} ${version}: ${bytes} bytes gzipped\n`);
}

if (process.argv[1] === import.meta.filename) await buildPackage();
