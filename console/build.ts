import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Plugin } from 'esbuild';
import { commonOptions, writeFolder } from '../player/build-output.ts';
import { compiledMessages, tokenStyles } from '../player/build-plugins.ts';
import { formatNames } from '../shared/converters/formats.ts';
import { messagesWith, supportedLanguages } from '../shared/i18n/message.ts';

const sourceFolder = fileURLToPath(new URL('./', import.meta.url));
const outputFolder = fileURLToPath(new URL('./dist/', import.meta.url));

/** The prefix of the console's messages in `locales/`. */
const messagePrefix = 'console.';

/**
 * Groups of messages that only their pages show, which import them in English as `messages:page/<group>`. The title of a
 * page is not among them: links to it show it too. Other languages come as a whole.
 */
export const pageGroups = [
  'changes',
  'connect',
  'destination',
  'editor',
  'grade',
  'grades',
  'keys',
  'launch_fault',
  'operators',
  'profile',
  'report',
  'retention',
  'statistics',
  'theme',
];

/**
 * Builds the console: `main-<hash>.js`, a chunk for each page, a chunk with the texts of each other language, and
 * `main-<hash>.css`. `entry.json` names the files that the page refers to. Removes other files from the folder.
 *
 * @param output the folder to write to
 * @returns the file names, sorted
 */
export async function buildConsole(output: string = outputFolder): Promise<string[]> {
  const { outputFiles, metafile } = await build({
    ...commonOptions,
    // Newer than the player's: the console uses the popover API, and its users choose their browser.
    target: ['chrome120', 'edge120', 'firefox125', 'safari17.2'],
    entryPoints: { main: join(sourceFolder, 'main.tsx') },
    absWorkingDir: sourceFolder,
    outdir: output,
    format: 'esm',
    splitting: true,
    metafile: true,
    ...{ jsx: 'automatic', jsxImportSource: 'preact' },
    ...{ entryNames: '[name]-[hash]', chunkNames: '[name]-[hash]' },
    plugins: [compiledMessages(shellPrefixes(), ['en']), languageMessages, tokenStyles],
  });
  const [script, built] =
    Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === 'main.tsx') ?? [];
  if (script === undefined || built?.cssBundle === undefined) throw new Error('the console has no entry');
  const eager = built.imports
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => basename(path));
  const entry = { script: basename(script), style: basename(built.cssBundle), preload: eager };
  return writeFolder(output, [
    ...outputFiles,
    { path: join(output, 'entry.json'), contents: Buffer.from(JSON.stringify(entry)) },
  ]);
}

/** Returns the beginnings of the keys of all other messages. */
function shellPrefixes(): string[] {
  const groups = Object.keys(messagesWith('en', [messagePrefix])).map((key) => {
    const [group = '', ...rest] = key.slice(messagePrefix.length).split('.');
    if (pageGroups.includes(group)) return `${group}.title`;
    return rest.length === 0 ? group : `${group}.`;
  });
  return [...new Set(groups)].map((group) => messagePrefix + group);
}

/**
 * Makes `messages:languages`: a function for each language other than English that loads its compiled messages;
 * `messages:fields`, the same for the texts of fields; `messages:page/<group>`, which adds messages in English; and
 * `messages:import-formats`, the names of the formats without the converters.
 */
const languageMessages: Plugin = {
  name: 'language-messages',
  setup(bundle) {
    const namespace = 'language-messages';
    const others = supportedLanguages().filter((language) => language !== 'en');
    bundle.onResolve({ filter: /^messages:/ }, ({ path }) => ({ path, namespace }));
    bundle.onLoad({ filter: /^messages:languages$/, namespace }, () => ({
      contents: `export const loadMessages = {${others
        .map((language) => `${language}: () => import('messages:${language}')`)
        .join()}};`,
      resolveDir: sourceFolder,
    }));
    bundle.onLoad({ filter: /^messages:fields$/, namespace }, () => ({
      contents: `export const loadFieldTexts = {${others
        .map((language) => `${language}: () => import('../locales/fields/${language}.json')`)
        .join()}};`,
      resolveDir: sourceFolder,
    }));
    bundle.onLoad({ filter: /^messages:import-formats$/, namespace }, () => ({
      contents: `export const importFormats = ${JSON.stringify(formatNames)};`,
    }));
    bundle.onLoad({ filter: /^messages:page\//, namespace }, ({ path }) => {
      const group = path.slice('messages:page/'.length);
      if (!pageGroups.includes(group)) throw new Error(`${group} is not a group of messages of pages`);
      const messages = JSON.stringify(messagesWith('en', [`${messagePrefix}${group}.`]));
      const contents = `import { addMessages } from '../shared/i18n/message.ts'; addMessages('en', ${messages});`;
      return { contents, resolveDir: sourceFolder };
    });
    bundle.onLoad({ filter: /^messages:[a-z]{2}$/, namespace }, ({ path }) => {
      const messages = messagesWith(path.slice('messages:'.length), [messagePrefix]);
      return { contents: `export default ${JSON.stringify(messages)};` };
    });
  },
};

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await buildConsole();
