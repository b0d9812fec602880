import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import { messagesWith, supportedLanguages } from '../shared/i18n/message.ts';
import type { MessageKey } from '../shared/i18n/message.ts';
import { coreWidgetTypes, onDemandTypes } from '../shared/lessons/core-widgets.ts';
import type { CoreWidgetType, OnDemandType } from '../shared/lessons/core-widgets.ts';
import { tokensCss } from '../shared/theme/tokens.ts';
import { kitModules } from './lesson/kit-modules.ts';

/* What esbuild gets in place of some files of the sources. */

export const sourceFolder = fileURLToPath(new URL('./', import.meta.url));

/** Returns a file of a core widget. */
export function widgetFile(type: CoreWidgetType, extension: string): string {
  return join(sourceFolder, 'widgets', type, `${type}.${extension}`);
}

/** Replaces imports of the player's modules with calls of `require` with their paths. */
export const playerModules: Plugin = {
  name: 'player-modules',
  setup: (bundle) =>
    bundle.onResolve({ filter: /^\.{1,2}\// }, ({ path, resolveDir }) => {
      const found = kitModules.find((name) => join(sourceFolder, '..', name) === join(resolveDir, path));
      return found === undefined ? undefined : { path: found, external: true };
    }),
};

/** Leaves out the styles that player.css contains. */
export const playerStyles: Plugin = {
  name: 'player-styles',
  setup(bundle) {
    bundle.onLoad({ filter: /[\\/]player[\\/]styles[\\/]\w+\.css$/ }, () => ({
      contents: '',
      loader: 'css',
    }));
  },
};

/** Makes `core-widgets.css`, which player.css imports: the stylesheets of the core widgets in player.js. */
export const coreWidgetStyles: Plugin = {
  name: 'core-widget-styles',
  setup(bundle) {
    const namespace = 'core-widget-styles';
    bundle.onResolve({ filter: /^core-widgets\.css$/ }, ({ path }) => ({ path, namespace }));
    bundle.onLoad({ filter: /.*/, namespace }, () => ({
      contents: coreWidgetTypes
        .filter((type) => !onDemandTypes.includes(type as OnDemandType))
        .toSorted()
        .map((type) => `@import ${JSON.stringify(widgetFile(type, 'css'))};`)
        .join('\n'),
      loader: 'css',
      resolveDir: sourceFolder,
    }));
  },
};

/** Makes `tokens.css`, which base.css imports: the design tokens. */
export const tokenStyles: Plugin = {
  name: 'token-styles',
  setup(bundle) {
    const namespace = 'token-styles';
    bundle.onResolve({ filter: /^tokens\.css$/ }, ({ path }) => ({ path, namespace }));
    bundle.onLoad({ filter: /.*/, namespace }, () => ({ contents: tokensCss(), loader: 'css' }));
  },
};

/**
 * Replaces all messages and their compiler with the compiled messages of a bundle: see shared/i18n/catalogs.ts.
 *
 * @param contained the languages whose texts it contains; a page adds those of the others
 */
export function compiledMessages(prefixes: string[], contained = supportedLanguages()): Plugin {
  const keys = Object.keys(messagesWith('en', prefixes)) as MessageKey[];
  const languages = keys.length === 0 ? [] : supportedLanguages();
  const texts = languages.map((language) => {
    if (!contained.includes(language)) return [language, []];
    const messages = messagesWith(language, prefixes);
    return [language, keys.map((key) => messages[key])];
  });
  // Contains each key only once, not once per language.
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
