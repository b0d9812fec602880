/*
 * Compares the messages of all languages with the English ones, and writes the types of their values:
 *   npm run locales          check, and write shared/i18n/message-values.ts
 *   npm run locales -- --check   check only
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { coreWidgetFields } from '../shared/lessons/core-widget-fields.ts';
import { captionsFields } from '../shared/lessons/widget-fields.ts';
import type { Fields } from '../shared/lessons/widget-fields.ts';
import { parse, TYPE } from '@formatjs/icu-messageformat-parser';
import type { MessageFormatElement } from '@formatjs/icu-messageformat-parser';

type Messages = Record<string, string>;

const typesFile = fileURLToPath(new URL('../shared/i18n/message-values.ts', import.meta.url));

/**
 * Returns the faults of all languages' messages, one line each: missing and superfluous keys, placeholders that differ
 * from the English ones, plurals that lack a form of the language, and texts that are not ICU MessageFormat.
 */
export function findFaults(locales: Record<string, Messages>): string[] {
  const { en = {} } = locales;
  return Object.entries(locales).flatMap(([language, messages]) => {
    const missing = Object.keys(en).filter((key) => !Object.hasOwn(messages, key));
    const superfluous = Object.keys(messages).filter((key) => !Object.hasOwn(en, key));
    return [
      ...missing.map((key) => `${language}.json lacks "${key}": translate it from en.json`),
      ...superfluous.map((key) => `${language}.json has "${key}", which en.json lacks: remove it`),
      ...Object.entries(messages).flatMap(([key, text]) => {
        const fault = faultOf(language, text, en[key]);
        return fault === undefined ? [] : [`${language}.json, "${key}": ${fault}`];
      }),
    ];
  });
}

function faultOf(language: string, text: string, english: string | undefined): string | undefined {
  if (text.includes("'")) return 'has a straight apostrophe, which escapes in ICU MessageFormat: write ’';
  let found: Placeholders;
  try {
    found = placeholdersOf(parse(text), requiredForms(language));
  } catch (error) {
    return `is not valid ICU MessageFormat: ${(error as Error).message}`;
  }
  if (english === undefined) return undefined;
  const [own, expected] = [found, placeholdersOf(parse(english))].map(typeOf);
  return own === expected ? undefined : `takes ${own}, but takes ${expected} in English`;
}

type Placeholders = Map<string, 'number' | 'string' | 'Date'>;

/** @param forms required in each plural */
function placeholdersOf(elements: MessageFormatElement[], forms: readonly string[] = []): Placeholders {
  const found: Placeholders = new Map();
  for (const element of elements) {
    if (element.type === TYPE.number) found.set(element.value, 'number');
    else if (element.type === TYPE.date || element.type === TYPE.time) found.set(element.value, 'Date');
    else if (element.type === TYPE.argument) found.set(element.value, 'string');
    else if (element.type === TYPE.plural || element.type === TYPE.select) {
      const isPlural = element.type === TYPE.plural;
      const lacking = isPlural ? forms.filter((form) => !Object.hasOwn(element.options, form)) : [];
      if (lacking.length > 0) throw new Error(`the plural of ${element.value} lacks ${lacking.join(', ')}`);
      found.set(element.value, isPlural ? 'number' : 'string');
      for (const { value } of Object.values(element.options))
        for (const [name, type] of placeholdersOf(value, forms)) found.set(name, type);
    }
  }
  return found;
}

/** Returns the plural forms of small counts. Romance languages have another form for millions, which lessons do not need. */
function requiredForms(language: string): string[] {
  const rules = new Intl.PluralRules(language);
  return [...new Set(Array.from({ length: 200 }, (_, count) => rules.select(count))), 'other'];
}

function typeOf(placeholders: Placeholders): string {
  const fields = [...placeholders].sort(([a], [b]) => (a < b ? -1 : 1));
  return fields.length === 0 ? 'no values' : `{ ${fields.map((field) => field.join(': ')).join('; ')} }`;
}

/** Returns the source of the module with the types of all messages' values. */
export function valueTypes(en: Messages): string {
  const lines = Object.entries(en).flatMap(([key, text]) => {
    const values = placeholdersOf(parse(text));
    return values.size === 0 ? [] : [`  '${key}': ${typeOf(values)};\n`];
  });
  return `// Written by \`npm run locales\` from locales/en.json. Do not edit it.

/** The values of the messages that take any. */
export interface MessageValues {
${lines.join('')}}
`;
}

/** Returns the English texts of the fields that have an input in the editor. */
function fieldTexts(fields: Fields): string[] {
  return Object.values(fields)
    .filter((field) => !field.isGenerated && !('isId' in field))
    .flatMap((field) => [
      ...[field.label, field.help ?? []].flat(),
      ...('choices' in field ? field.choices.map(({ label }) => label) : []),
      ...('fields' in field ? fieldTexts(field.fields) : []),
    ]);
}

/** Returns the faults of the translated texts of fields, in fields/: missing and superfluous texts. */
function findFieldFaults(languages: string[]): string[] {
  const all = [...Object.values(coreWidgetFields), captionsFields].flatMap(fieldTexts);
  const texts = Object.fromEntries(all.map((text) => [text, text]));
  const translated = Object.entries(readLocales('./fields/'));
  const missing = languages.filter((language) => !translated.some(([other]) => other === language));
  return [
    ...missing.map((language) => `there is no fields/${language}.json`),
    ...findFaults({ en: texts, ...Object.fromEntries(translated) }).map((fault) => `fields/${fault}`),
  ];
}

/** Returns the messages in this folder, or in one below it, by language. */
export function readLocales(path = './'): Record<string, Messages> {
  const folder = new URL(path, import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return Object.fromEntries(
    files.map((name) => [
      basename(name, '.json'),
      JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Messages,
    ]),
  );
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const locales = readLocales();
  const others = Object.keys(locales).filter((language) => language !== 'en');
  const faults = [...findFaults(locales), ...findFieldFaults(others)];
  const types = faults.length === 0 ? valueTypes(locales.en ?? {}) : '';
  if (faults.length === 0 && !process.argv.includes('--check')) writeFileSync(typesFile, types);
  else if (faults.length === 0 && readFileSync(typesFile, 'utf8') !== types)
    faults.push('shared/i18n/message-values.ts differs from en.json: run `npm run locales`');
  if (faults.length > 0) {
    process.stderr.write(`${faults.join('\n')}\n`);
    process.exitCode = 1;
  }
}
