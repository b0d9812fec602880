import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { BuildOptions, Plugin } from 'esbuild';
import { messagesWith, supportedLanguages } from '../shared/i18n/message.ts';
import type { MessageKey } from '../shared/i18n/message.ts';

const SOURCE = fileURLToPath(new URL('./', import.meta.url));
const OUTPUT = fileURLToPath(new URL('./dist/', import.meta.url));

interface Bundle extends Pick<BuildOptions, 'format' | 'globalName'> {
  /** Relative to this folder. */
  source: string;
  /** The name of the file in `dist/player/`, without its extension. */
  name: string;
  /** The prefixes of the messages that it holds, in all languages; none where the page itself carries them. */
  messages?: string[];
}

/** The files that pages load. */
const BUNDLES: Bundle[] = [
  { source: 'player.ts', name: 'player', format: 'esm', messages: ['lesson.', 'widget.'] },
  {
    ...{ source: 'player.ts', name: 'player.classic', format: 'iife', globalName: 'Lectern' },
    messages: ['lesson.', 'widget.'],
  },
  { source: 'player.css', name: 'player' },
  { source: 'archive-page/archive-page.ts', name: 'archive-page', format: 'iife' },
  { source: 'frame/frame.ts', name: 'frame', format: 'esm', messages: ['lesson.', 'widget.'] },
  { source: 'frame/frame.css', name: 'frame' },
  { source: 'embed-page/embed-page.ts', name: 'embed-page', format: 'esm' },
  { source: 'embed-page/embed-page.css', name: 'embed-page' },
  { source: 'host/embed.ts', name: 'embed', format: 'iife', globalName: 'LecternEmbed' },
  { source: 'launch-page/launch-page.ts', name: 'launch-page', format: 'esm' },
  { source: 'choice-page/sent-page.ts', name: 'sent-page', format: 'esm' },
  { source: 'registration-page/registration-page.ts', name: 'registration-page', format: 'esm' },
];

/** Files that are meant to be read, and go as they are. */
const COPIES = ['archive-page/callbacks.js'];

/** Files that hold types alone: what integrators with TypeScript need of the player. */
const TYPES = ['block.ts', 'widget.ts', 'lesson/state.ts', 'lesson/options.ts'];

/** The same sources give the same bytes on every machine: releases are named after their digest. */
const COMMON = {
  write: false,
  bundle: true,
  minify: true,
  target: 'es2022',
  charset: 'utf8',
  // The sanitizer's licence asks that its notice stays with it.
  legalComments: 'eof',
  logLevel: 'warning',
} satisfies BuildOptions;

interface OutputFile {
  path: string;
  contents: Uint8Array;
}

/**
 * Builds each core widget to `<Type>.js`, one self-contained ES module, and `<Type>.css` where it has a
 * stylesheet. The folder ends up holding these files and nothing else.
 *
 * @param output the folder to write to
 * @returns the file names, sorted
 */
export async function buildWidgets(output: string = join(OUTPUT, 'widgets')): Promise<string[]> {
  const widgets = join(SOURCE, 'widgets');
  const types = (await readdir(widgets, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const entryPoints = await Promise.all(
    types.map(async ({ name }) => {
      const files = await readdir(join(widgets, name));
      return [`${name}.ts`, `${name}.css`]
        .filter((file) => files.includes(file))
        .map((file) => ({ in: join(widgets, name, file), out: name }));
    }),
  );
  const { outputFiles } = await build({
    ...COMMON,
    entryPoints: entryPoints.flat(),
    outdir: output,
    format: 'esm',
    plugins: [compiledMessages(['widget.'])],
  });
  return writeFolder(output, outputFiles);
}

/**
 * Builds the player, core widgets inside: `player.js`, an ES module; `player.classic.js`, the same as a classic
 * script; `player.d.ts`, the types of both; `player.css`; and what pages of Lectern's own and of archives have
 * beside them. The folder ends up holding these files and nothing else.
 *
 * @param output the folder to write to
 * @returns the file names, sorted
 */
export async function buildPlayer(output: string = join(OUTPUT, 'player')): Promise<string[]> {
  const built = await Promise.all(
    BUNDLES.map(({ source, name, messages = [], ...options }) =>
      build({
        ...COMMON,
        ...options,
        entryPoints: [{ in: join(SOURCE, source), out: name }],
        outdir: output,
        plugins: [compiledMessages(messages)],
      }),
    ),
  );
  const copies = COPIES.map(async (source) => ({
    path: join(output, basename(source)),
    contents: await readFile(join(SOURCE, source)),
  }));
  return writeFolder(output, [
    ...built.flatMap(({ outputFiles }) => outputFiles),
    ...(await Promise.all(copies)),
    { path: join(output, 'player.d.ts'), contents: Buffer.from(await playerTypes()) },
  ]);
}

/** Puts compiled messages in place of all messages and their compiler: see shared/i18n/catalogs.ts. */
function compiledMessages(prefixes: string[]): Plugin {
  const keys = Object.keys(messagesWith('en', prefixes)) as MessageKey[];
  const languages = keys.length === 0 ? [] : supportedLanguages();
  const texts = languages.map((language) => {
    const messages = messagesWith(language, prefixes);
    return [language, keys.map((key) => messages[key])];
  });
  // Each key once, not once in each language.
  const contents = `const keys = ${JSON.stringify(keys)};
export const catalogs = Object.fromEntries(${JSON.stringify(texts)}.map(
  ([language, texts]) => [language, Object.fromEntries(keys.map((key, index) => [key, texts[index]]))],
));`;
  return {
    name: 'compiled-messages',
    setup: (bundle) =>
      bundle.onLoad({ filter: /[\\/]shared[\\/]i18n[\\/]catalogs\.ts$/ }, () => ({ contents })),
  };
}

async function playerTypes(): Promise<string> {
  const sources = await Promise.all(TYPES.map((file) => readFile(join(SOURCE, file), 'utf8')));
  return [
    ...sources.map((source) => source.replace(/^(import|export) type \{[^}]*\}( from '[^']*')?;\n+/gm, '')),
    '/** Puts a lesson into an element of the page and plays it. It never throws because of the lesson. */\n' +
      'export declare function mountLesson(options: LessonOptions): LessonHandle;\n',
  ].join('\n');
}

/**
 * Copies what the API reference needs: Scalar's bundle as it was released, and its licence. Both come from Scalar's
 * package for Fastify, which holds the same bundle as `@scalar/api-reference` without that package's 299 dependencies.
 *
 * @param output the folder to write to
 * @returns the file names, sorted
 */
export async function copyApiReference(output: string = join(OUTPUT, 'api-reference')): Promise<string[]> {
  const code = dirname(createRequire(import.meta.url).resolve('@scalar/fastify-api-reference'));
  const copy = async (name: string, source: string) => ({
    path: join(output, name),
    contents: await readFile(join(code, source)),
  });
  return writeFolder(
    output,
    await Promise.all([copy('scalar.js', 'js/standalone.js'), copy('scalar.LICENSE.txt', '../LICENSE')]),
  );
}

/** Makes a folder hold these files alone. */
async function writeFolder(folder: string, files: OutputFile[]): Promise<string[]> {
  await mkdir(folder, { recursive: true });
  const written = await Promise.all(
    files.map(async ({ path, contents }) => {
      await replaceFile(path, contents);
      return basename(path);
    }),
  );
  const stale = (await readdir(folder)).filter((name) => !written.includes(name) && !name.endsWith('.tmp'));
  await Promise.all(stale.map((name) => rm(join(folder, name), { recursive: true })));
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

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await Promise.all([buildWidgets(), buildPlayer(), copyApiReference()]);
}
