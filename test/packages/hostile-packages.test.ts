import { expect, test } from 'vitest';
import { inspect } from '../../shared/media/content-types.ts';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import { longestBlock, maxBlockMs } from '../support/longest-block.ts';
import { useHarness } from '../support/use.ts';
import { everythingStored, importInto } from './import-support.ts';

const harness = useHarness();

/** Returns blocks whose texts make a parser reopen unclosed elements in each paragraph. */
const unclosed = () =>
  Array.from({ length: 72 }, (_, index) => {
    const open = Array.from({ length: 300 }, (_el, number) => `<b id=${number}>`).join('');
    return { type: 'Text', props: { id: `t${index}`, html: `<img src=x><p>${open}${'<p>x'.repeat(250)}` } };
  });

const manyParts = () =>
  Array.from({ length: 60_000 }, (_, index) => ({ type: 'Text', props: { id: `t${index}`, html: 'x' } }));

/** Scoring compares each answer with all of them. */
const manyAnswers = (answer: string, count: number) => () =>
  Array.from({ length: count }, (_, index) => {
    const ids = Array.from({ length: 100 }, (_gap, gap) => `g${gap}`);
    const blanks = ids.map((id) => ({ id, answers: Array.from({ length: 20 }, () => answer) }));
    const text = ids.map((id) => `[[${id}]]`).join(' ');
    return { type: 'FillInTheBlanks', props: { id: `f${index}`, text, blanks } };
  });

test.each<[attack: string, blocks: () => unknown[], fault: string]>([
  ['unclosed tags in many texts', unclosed, 'The HTML of the lesson has more than 250000 elements'],
  ['more blocks than a lesson has', manyParts, 'at most 20000 are allowed'],
  ['more accepted answers than a write can compare', manyAnswers('ää', 26), 'at most 100000 are allowed'],
  ['accepted answers of signs that are words', manyAnswers('ﷺ', 3), 'at most 100000 are allowed'],
  [
    'accepted answers of invisible characters',
    manyAnswers('a\u200b\u200b\u200b', 13),
    'have 104000 characters',
  ],
])('%s are refused, and the event loop goes on', async (_attack, blocks, fault) => {
  const { organization } = await buildOrganization(harness);
  const { path } = await buildPackage({ blocks });
  const before = await everythingStored(harness);
  const refused = () => expect(importInto(harness, organization, path)).rejects.toThrow(fault);
  expect(await longestBlock(refused)).toBeLessThan(maxBlockMs);
  expect(await everythingStored(harness)).toEqual(before);
});

const beginnings = 'url('.repeat(400_000);
const attributes = Array.from({ length: 250_000 }, (_, index) => `a${index}=""`).join(' ');

test.each<[attack: string, drawing: string, fault: string | null]>([
  ['a style of beginnings of URLs', `<style>${beginnings}</style>`, null],
  ['an attribute of beginnings of URLs', `<g style="${beginnings}"/>`, null],
  ['elements nested in each other', '<g>'.repeat(500_000), 'nests elements more than 256 deep'],
  ['250,000 attributes', `<g ${attributes}/>`, null],
])('a drawing with %s does not block the event loop', async (_attack, inside, fault) => {
  const { organization } = await buildOrganization(harness);
  const bytes = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>`);
  const { path } = await buildPackage({ media: [{ bytes, mimeType: 'image/svg+xml', extension: 'svg' }] });
  const block = await longestBlock(async () => {
    const imported = importInto(harness, organization, path);
    if (fault === null) await imported;
    else await expect(imported).rejects.toThrow(fault);
  });
  expect(block).toBeLessThan(maxBlockMs);
});

test('many media with long credits are stored while the event loop goes on', async () => {
  const { organization } = await buildOrganization(harness);
  const media = Array.from({ length: 4_000 }, (_, index) => ({
    sourceUrl: `https://media.example/${index}.png`,
    attribution: { text: 'x'.repeat(500), url: '', portfolioUrl: '' },
  }));
  const { path } = await buildPackage({ media });
  const block = await longestBlock(async () => {
    expect(await importInto(harness, organization, path)).toMatchObject({ media: 4_000 });
  });
  expect(block).toBeLessThan(maxBlockMs);
});

test.each(['<!doctype svg'.repeat(315), `<!doctype svg${' '.repeat(4_000)}`])(
  'the type of a file that begins with %.20s… is found in linear time',
  async (text) => {
    const head = Buffer.from(text);
    const block = await longestBlock(async () => {
      for (let file = 0; file < 100; file += 1) await inspect('image/svg+xml', head);
    });
    expect(block).toBeLessThan(maxBlockMs);
  },
);
