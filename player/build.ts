import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { BuildOptions } from 'esbuild';
import { coreWidgetTypes, onDemandTypes } from '../shared/lessons/core-widgets.ts';
import type { CoreWidgetType, OnDemandType } from '../shared/lessons/core-widgets.ts';
import {
  compiledMessages,
  coreWidgetStyles,
  playerModules,
  playerStyles,
  sourceFolder,
  tokenStyles,
  widgetFile,
} from './build-plugins.ts';
import { commonOptions, writeFolder } from './build-output.ts';

const outputFolder = fileURLToPath(new URL('./dist/', import.meta.url));

interface Bundle extends Pick<BuildOptions, 'format' | 'globalName'> {
  /** Relative to this folder. */
  source: string;
  /** The name of the file in `dist/player/`, without its extension. */
  name: string;
  /** The prefixes of its messages, which it contains in all languages; none if the page has them. */
  messages?: string[];
}

/** The files that pages load. */
const bundles: Bundle[] = [
  { source: 'player.ts', name: 'player', format: 'esm', messages: ['lesson.', 'widget.'] },
  {
    ...{ source: 'player.ts', name: 'player.classic', format: 'iife', globalName: 'Lectern' },
    messages: ['lesson.', 'widget.'],
  },
  { source: 'player.css', name: 'player' },
  { source: 'archive-page/archive-page.ts', name: 'archive-page', format: 'iife' },
  { source: 'lms/scorm-page.ts', name: 'scorm-page', format: 'iife', messages: ['lms.'] },
  { source: 'lms/cmi5-page.ts', name: 'cmi5-page', format: 'iife', messages: ['lms.'] },
  { source: 'embed-page/embed-page.ts', name: 'embed-page', format: 'esm' },
  { source: 'embed-page/embed-page.css', name: 'embed-page' },
  { source: 'host/embed.ts', name: 'embed', format: 'iife', globalName: 'LecternEmbed' },
  { source: 'launch-page/launch-page.ts', name: 'launch-page', format: 'esm' },
  { source: 'selection-page/sent-page.ts', name: 'sent-page', format: 'esm' },
  { source: 'registration-page/registration-page.ts', name: 'registration-page', format: 'esm' },
];

/** The script and the styles of each page that a frame shows. */
const frames: Record<string, [script: Bundle, style: Bundle]> = {
  'frame.html': [
    { source: 'frame/frame.ts', name: 'frame', format: 'esm' },
    { source: 'frame/frame.css', name: 'frame' },
  ],
  'edit-frame.html': [
    {
      source: 'edit-frame/edit-frame.ts',
      name: 'edit-frame',
      format: 'esm',
      messages: ['lesson.', 'widget.'],
    },
    { source: 'edit-frame/edit-frame.css', name: 'edit-frame' },
  ],
};

/** The parts of a custom widget's frame: player.js contains them. */
const widgetFrameParts: Bundle[] = [
  { source: 'widget-frame/widget-frame.css', name: 'widget-frame' },
  { source: 'widget-frame/widget-frame.ts', name: 'widget-frame', format: 'iife' },
];

/** Files that are copied unchanged: one for readers, and the font of formulas. */
const copies = [
  join(sourceFolder, 'archive-page/callbacks.js'),
  createRequire(import.meta.url).resolve('temml/dist/Temml.woff2'),
];

/** Files with types only, for integrators who use TypeScript. */
const typeFiles = ['block.ts', 'widget.ts', 'lesson/state.ts', 'lesson/options.ts'];

/**
 * Builds each core widget: `<Type>.js`, a self-contained ES module, and `<Type>.css`. Removes other files from the
 * folder.
 *
 * @param output the folder to write to
 * @returns the file names, sorted
 * @throws when a core type has no script or no stylesheet
 */
export async function buildWidgets(output: string = join(outputFolder, 'widgets')): Promise<string[]> {
  const built = await Promise.all(
    coreWidgetTypes.map((type) =>
      build({
        ...commonOptions,
        entryPoints: ['ts', 'css'].map((extension) => ({ in: widgetFile(type, extension), out: type })),
        outdir: output,
        format: 'esm',
        plugins: [compiledMessages(['widget.', ownPrefix(type)]), tokenStyles],
      }),
    ),
  );
  return writeFolder(
    output,
    built.flatMap(({ outputFiles }) => outputFiles),
  );
}

/** Returns the prefix of the messages that only this widget has: player.js does not contain them. */
function ownPrefix(type: CoreWidgetType): string {
  return `${type.charAt(0).toLowerCase()}${type.slice(1)}.`;
}

/**
 * Builds the player with the core widgets: `player.js` (an ES module), `player.classic.js` (a classic script),
 * `widget-<Type>.js` (the widgets that both load on demand), `player.d.ts` (the types of both) and `player.css`. Also
 * builds `widget-frame.js`, the script in the frames of custom widgets, whose digest policies have, and the other files of Lectern's pages and of archives, such as `frame.html`.
 * Removes other files from the folder.
 *
 * @param output the folder to write to
 * @returns the file names, sorted
 */
export async function buildPlayer(output: string = join(outputFolder, 'player')): Promise<string[]> {
  const frameScript = await widgetFrameScript();
  const define = { widgetFrameScript: JSON.stringify(frameScript) };
  const built = await Promise.all(bundles.map((bundle) => buildBundle(bundle, output, define)));
  const onDemand = onDemandTypes.map(async (type) => ({
    path: join(output, `widget-${type}.js`),
    contents: Buffer.from(await widgetScript(type)),
  }));
  const copied = copies.map(async (source) => ({
    path: join(output, basename(source)),
    contents: await readFile(source),
  }));
  const pages = Object.entries(frames).map(async ([name, parts]) => ({
    path: join(output, name),
    contents: Buffer.from(await frameDocument(name, parts, define)),
  }));
  return writeFolder(output, [
    ...built.flat(),
    ...(await Promise.all([...copied, ...onDemand, ...pages])),
    { path: join(output, 'widget-frame.js'), contents: Buffer.from(frameScript) },
    { path: join(output, 'player.d.ts'), contents: Buffer.from(await playerTypes()) },
  ]);
}

async function buildBundle(
  { source, name, messages = [], ...options }: Bundle,
  outdir: string,
  define: Record<string, string> = {},
) {
  const { outputFiles } = await build({
    ...commonOptions,
    ...options,
    define,
    entryPoints: [{ in: join(sourceFolder, source), out: name }],
    outdir,
    // `import.meta` is empty in a classic script: see lesson/on-demand.ts.
    ...(options.format === 'iife' && { logOverride: { 'empty-import-meta': 'silent' } }),
    plugins: [compiledMessages(messages), coreWidgetStyles, tokenStyles],
  });
  return outputFiles;
}

/**
 * Returns a document that shows a lesson inside the embed page or the editor. The player and the widgets, including those
 * of organizations, have an opaque origin there. All its data comes from the page around it.
 *
 * It contains its script and styles. Browsers would request separate files only after the document has arrived, which
 * would delay the first step by a round trip.
 */
async function frameDocument(
  name: string,
  parts: readonly Bundle[],
  define: Record<string, string>,
): Promise<string> {
  const built = await Promise.all(parts.map((part) => buildBundle(part, outputFolder, define)));
  const [script = '', style = ''] = built.map(([file]) => file?.text.trim() ?? '');
  checkInline(name, script + style);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lesson</title>
<style>${style}</style>
<script type="module">${script}</script>
</head>
<body></body>
</html>
`;
}

/** Returns the script in the frames of custom widgets, with its styles. */
async function widgetFrameScript(): Promise<string> {
  const [style, script] = widgetFrameParts as [Bundle, Bundle];
  const [styles] = await buildBundle(style, outputFolder);
  const define = { widgetFrameStyle: JSON.stringify(styles?.text.trim() ?? '') };
  const [built] = await buildBundle(script, outputFolder, define);
  const text = built?.text.trim() ?? '';
  checkInline('widget-frame.js', text);
  return text;
}

/** esbuild escapes closing tags. After `<!--`, an opening `<script` would hide the script's closing tag, too. */
function checkInline(name: string, text: string): void {
  if (/<\/?script|<\/style/i.test(text))
    throw new Error(`${name}: a tag in its script or styles would end them early`);
}

/**
 * Builds a widget that the player loads on demand: a classic script with the widget, its texts and its styles, and
 * without the modules and styles that the player has. See WidgetScript in lesson/on-demand.ts.
 */
async function widgetScript(type: OnDemandType): Promise<string> {
  const options = { ...commonOptions, legalComments: 'none', outdir: outputFolder } as const;
  const [script, style] = await Promise.all([
    build({
      ...options,
      stdin: {
        contents: `import { catalogs } from '../shared/i18n/catalogs.ts';
import { addMessages } from '../shared/i18n/message.ts';
for (const [language, messages] of Object.entries(catalogs)) addMessages(language, messages);
export { default } from ${JSON.stringify(widgetFile(type, 'ts'))};`,
        resolveDir: sourceFolder,
      },
      format: 'cjs',
      plugins: [compiledMessages([ownPrefix(type)]), playerModules],
    }),
    build({ ...options, entryPoints: [widgetFile(type, 'css')], plugins: [playerStyles] }),
  ]);
  const [code, css] = [script, style].map(({ outputFiles }) => outputFiles[0]?.text.trim() ?? '');
  return `document.currentScript.widget={define(require,module){${code}},css:${JSON.stringify(css)}};\n`;
}

/** Matches imports, re-exports and line comments. */
const notTypes = /^(import|export) type \{[^}]*\}( from '[^']*')?;\n+|^\/\/ .*\n+/gm;

async function playerTypes(): Promise<string> {
  const sources = await Promise.all(typeFiles.map((file) => readFile(join(sourceFolder, file), 'utf8')));
  return [
    ...sources.map((source) => source.replace(notTypes, '')),
    '/** Plays a lesson in an element of the page. It never throws because of the lesson. */\n' +
      'export declare function mountLesson(options: LessonOptions): LessonHandle;\n',
  ].join('\n');
}

/**
 * Copies the files of the API reference: Scalar's released bundle and its license. They come from Scalar's package for
 * Fastify, which contains the same bundle as `@scalar/api-reference` without that package's 299 dependencies.
 *
 * @param output the folder to write to
 * @returns the file names, sorted
 */
export async function copyApiReference(
  output: string = join(outputFolder, 'api-reference'),
): Promise<string[]> {
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

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await Promise.all([buildWidgets(), buildPlayer(), copyApiReference()]);
}
