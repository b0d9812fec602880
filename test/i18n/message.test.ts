import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { pageGroups } from '../../console/build.ts';
import { findFaults, readLocales, valueTypes } from '../../locales/check.ts';
import { intlLocale, message, supportedLanguage, supportedLanguages } from '../../shared/i18n/message.ts';

describe('a message', () => {
  test('is in the language of a tag, whatever its region and script, or else in English', () => {
    const texts = ['pt', 'pt-BR', 'pt_BR', 'ZH-Hans', 'tlh', '', 'no language', 'constructor'].map((tag) =>
      message(tag, 'lesson.finish'),
    );
    expect(texts).toEqual(['Concluir', 'Concluir', 'Concluir', '完成', ...Array<string>(4).fill('Finish')]);
    expect([supportedLanguage('pt_BR'), supportedLanguage('tlh')]).toEqual(['pt', undefined]);
  });

  test.each([
    ['en', 0, '0 tries left'],
    ['en', 1, '1 try left'],
    ['fr', 0, 'Il vous reste 0 essai'],
    ['ar', 2, 'بقيت لك محاولتان'],
    ['ar', 3, 'بقيت لك ٣ محاولات'],
    ['ar-MA', 3, 'بقيت لك 3 محاولات'],
    ['ar-EG', 11, 'بقيت لك ١١ محاولة'],
    ['zh', 1, '还可以尝试 1 次'],
    // English, by the plural rules of English: in Persian, 0 is singular.
    ['fa', 0, '۰ tries left'],
  ])('follows the plural rules of the language: %s %d', (locale, left, text) => {
    expect(message(locale, 'widget.triesLeft', { left })).toBe(text);
  });

  const numbers = [-1, 0, 0.5, 1, 2.345, 9, 10, 99, 100, 999, 1000, 1234.5, 1e6];
  const regional = ['ar-EG', 'de-CH', 'en-IN', 'en-u-nu-deva', 'es-MX', 'fa', 'fr-MA'];
  test.each(['ar', 'de', 'en', 'es', 'fr', ...regional])('writes numbers as %s does', (locale) => {
    const format = new Intl.NumberFormat(intlLocale(locale), { maximumFractionDigits: 4 });
    for (const seen of numbers) {
      const text = `${format.format(seen)}/${format.format(1)}`;
      expect(message(locale, 'lesson.sectionProgress', { seen, steps: 1 })).toBe(text);
    }
  });

  test('shows numbers also for an invalid language', () => {
    expect(message('no language', 'lesson.step', { step: 3, steps: 12 })).toBe('Step 3 of 12');
  });

  test('shows values unchanged, without parsing them as a message', () => {
    expect(message('en', 'widget.zoomNamed', { alt: "{x} <b>it's</b> #" })).toBe(
      "Enlarge image: {x} <b>it's</b> #",
    );
  });
});

describe('locales/', () => {
  const locales = readLocales();

  test('has the same messages with the same values in each language, and their types are current', () => {
    expect(findFaults(locales)).toEqual([]);
    expect(Object.keys(locales).sort()).toEqual(supportedLanguages().sort());
    const types = readFileSync(new URL('../../shared/i18n/message-values.ts', import.meta.url), 'utf8');
    expect(types, 'run `npm run locales`').toBe(valueTypes(locales.en ?? {}));
  });

  test('French has non-breaking spaces before punctuation', () => {
    for (const text of Object.values(locales.fr ?? {})) expect(text).not.toMatch(/ [:;?!]/);
  });

  test.each([
    ['a missing key', {}, 'xx.json lacks "a": translate it from en.json'],
    [
      'another placeholder',
      { a: '{m, number}' },
      'xx.json, "a": takes { m: number }, but takes { n: number } in English',
    ],
    [
      'a plural without a form that the language has',
      { a: '{n, plural, other {# keer}}' },
      'xx.json, "a": is not valid ICU MessageFormat: the plural of n lacks one',
    ],
    [
      'broken syntax',
      { a: '{n, number' },
      'xx.json, "a": is not valid ICU MessageFormat: EXPECT_ARGUMENT_CLOSING_BRACE',
    ],
    [
      'an apostrophe that escapes',
      { a: "l'{n, number}" },
      'xx.json, "a": has a straight apostrophe, which escapes in ICU MessageFormat: write ’',
    ],
  ])('the check finds %s', (_fault, xx, line) => {
    expect(findFaults({ en: { a: '{n, number}' }, xx })).toEqual([line]);
  });
});

test('player code uses only messages of its bundle', () => {
  const folder = new URL('../../player/', import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !name.startsWith('dist') && name !== 'build.ts',
  );
  const allowed = (name: string) => (name.startsWith('embed-page/') ? /^notice\./ : /^(lesson|widget)\./);
  const foreign = files.flatMap((name) => {
    const source = readFileSync(new URL(name, folder), 'utf8');
    const inWidget = /^(widgets\/|[\w-]+\.ts$)/.test(name);
    const pattern = /['`]((?:archive|embed|launch|lesson|notice|page|selection|widget)\.[\w.$]+)/g;
    return [...source.matchAll(pattern)]
      .filter(([, key = '']) => !(inWidget ? /^widget\./ : allowed(name)).test(key))
      .map(([, key]) => `${name}: ${key}`);
  });
  expect(foreign).toEqual([]);
});

test('pages of the console load the groups of messages that the shell lacks', () => {
  const folder = new URL('../../console/pages/', import.meta.url);
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => ({ page: name.split('/')[0], source: readFileSync(new URL(name, folder), 'utf8') }));
  const lacking = sources.flatMap(({ page, source }) =>
    [...source.matchAll(/['`]([a-z_]+)\.(?!title['`])[\w$]/g)]
      .map(([, group = '']) => group)
      .filter((group) => pageGroups.includes(group))
      .filter(
        (group) =>
          !sources.some((one) => one.page === page && one.source.includes(`messages:page/${group}'`)),
      )
      .map((group) => `${page}: ${group}`),
  );
  expect(lacking).toEqual([]);
});
