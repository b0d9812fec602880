import { expect, test } from 'vitest';
import { fill, wordsFor } from '../../player/words.ts';

const numbers = [-1, 0, 0.5, 1, 2.345, 9, 10, 99, 100, 999, 1000, 1234.5, 1e6];

test.each(['de', 'de-CH', 'en', 'en-IN', 'es', 'es-MX', 'fr', 'fr-MA', 'pt', 'pt-PT', 'zh', 'zh-TW'])(
  "numbers in %s use that language's format",
  (language) => {
    for (const number of numbers) {
      const written = new Intl.NumberFormat(language, { maximumFractionDigits: 2 }).format(number);
      expect(fill('{number}', { number }, language)).toBe(written);
    }
  },
);

test('also where a language has its own digits or the tag requests others', () => {
  expect(fill('{seen}/{steps}', { seen: 3, steps: 12 }, 'ar-EG')).toBe('٣/١٢');
  expect(fill('{seen}/{steps}', { seen: 3, steps: 12 }, 'fa')).toBe('۳/۱۲');
  expect(fill('{seen}', { seen: 3 }, 'en-u-nu-deva')).toBe('३');
});

test('an invalid language tag does not affect numbers', () => {
  expect(fill('{seen} of {steps}', { seen: 3, steps: 12 }, 'no language')).toBe('3 of 12');
});

test('French keeps signs such as a colon with the word before them', () => {
  for (const phrase of Object.values(wordsFor('fr'))) expect(phrase).not.toMatch(/ [:;?!]/);
});
