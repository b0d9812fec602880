import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const SOURCE = fileURLToPath(new URL('./widgets/', import.meta.url));
const OUTPUT = fileURLToPath(new URL('./dist/widgets/', import.meta.url));

/**
 * Builds each core widget to `<Type>.js`, one self-contained ES module, and `<Type>.css` where it has a
 * stylesheet. The same sources give the same bytes on every machine: releases of widgets are named after
 * their digest. The folder ends up holding these files and nothing else.
 *
 * @param output the folder to write to
 * @returns the file names, sorted
 */
export async function buildWidgets(output: string = OUTPUT): Promise<string[]> {
  const types = (await readdir(SOURCE, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const entryPoints = await Promise.all(
    types.map(async ({ name }) => {
      const files = await readdir(join(SOURCE, name));
      return [`${name}.ts`, `${name}.css`]
        .filter((file) => files.includes(file))
        .map((file) => ({ in: join(SOURCE, name, file), out: name }));
    }),
  );
  const { outputFiles } = await build({
    entryPoints: entryPoints.flat(),
    outdir: output,
    write: false,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    // The sanitizer's licence asks that its notice stays with it.
    legalComments: 'eof',
    logLevel: 'warning',
  });

  await mkdir(output, { recursive: true });
  const written = await Promise.all(
    outputFiles.map(async ({ path, contents }) => {
      await replaceFile(path, contents);
      return basename(path);
    }),
  );
  const stale = (await readdir(output)).filter((name) => !written.includes(name) && !name.endsWith('.tmp'));
  await Promise.all(stale.map((name) => rm(join(output, name), { recursive: true })));
  return written.sort();
}

/** Writes a file so that a server or a build beside this one never reads half of it. */
async function replaceFile(path: string, contents: Uint8Array): Promise<void> {
  const before = await readFile(path).catch(() => undefined);
  if (before?.equals(contents)) return;
  const temporary = `${path}.${process.pid}.tmp`;
  await writeFile(temporary, contents);
  await rename(temporary, path);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await buildWidgets();
