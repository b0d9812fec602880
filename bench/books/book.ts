import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { prose } from '../prose.ts';
import { picture } from '../player/picture.ts';
import { writePackage } from '../write-package.ts';

/** The shape of a published textbook of psychology, with steps of different lengths. */
const book = { steps: 739, stepsPerSection: 8, pictures: 352, words: 600 };

const vocabulary = prose(4000, 1).split(' ');

/** Returns a text with the word frequencies of a natural language, so that it compresses like one: to about a third. */
function text(words: number, seed: number): string {
  let random = seed * 2_654_435_761 + 1;
  const next = () => {
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
    return vocabulary[Math.floor(vocabulary.length * (random / 2 ** 32) ** 4)];
  };
  return Array.from({ length: words }, next).join(' ');
}

/** Returns a UUID for a name, the same in every run; like real ids, it hardly compresses. */
function idOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

const pictureId = (number: number) => idOf(`picture ${number}`);

/** The title of a step, which no other step has. */
export const bookStepTitle = (index: number) => `${index + 1} ${text(3, 900_000 + index)}`;

/** Returns the sections of a book: 739 steps with text, questions and 352 pictures, about 3 MB as JSON. */
export function bookSections({ steps = book.steps, words = book.words } = {}) {
  const all = Array.from({ length: steps }, (_, index) => ({
    id: idOf(`step ${index}`),
    title: bookStepTitle(index),
    order_index: index,
    content: { root: { props: {} }, content: blocksOf(index, words) },
  }));
  return Array.from({ length: Math.ceil(steps / book.stepsPerSection) }, (_, index) => ({
    id: idOf(`section ${index}`),
    title: `Chapter ${index + 1}: ${text(3, 800_000 + index)}`,
    order_index: index,
    steps: all.slice(index * book.stepsPerSection, (index + 1) * book.stepsPerSection),
  }));
}

function blocksOf(step: number, words: number): object[] {
  const id = (type: string) => `${type}-${idOf(`${type} ${step}`)}`;
  const length = Math.round(words * (0.4 + ((step * 7919) % 1000) / 830));
  const paragraphs = Array.from({ length: 4 }, (_, index) => text(Math.ceil(length / 4), step * 97 + index));
  const html = paragraphs.map((paragraph) => `<p>${paragraph}</p>`).join('');
  const question = text(12, 700_000 + step);
  const choices = ['a', 'b', 'c', 'd'].map((name, index) => ({ id: name, html: text(6, step * 31 + index) }));
  return [
    { type: 'Text', props: { id: id('Text'), html } },
    ...(step < book.pictures
      ? [
          {
            type: 'Image',
            props: {
              id: id('Image'),
              src: `media:${pictureId(step)}`,
              alt: text(6, step),
              caption: text(12, step),
            },
          },
        ]
      : []),
    ...(step % 5 === 1
      ? [
          {
            type: 'MultipleChoice',
            props: { id: id('MultipleChoice'), question, choices, correct: ['b'], points: 1 },
          },
        ]
      : []),
    ...(step % 5 === 3 ? [{ type: 'OpenResponse', props: { id: id('OpenResponse'), question } }] : []),
  ];
}

/**
 * Writes the book as a package to import. All pictures but the first are small, because no measured page shows them.
 */
export async function writeBook(folder: string): Promise<void> {
  await mkdir(join(folder, 'media'), { recursive: true });
  const numbers = Array.from({ length: book.pictures }, (_, number) => number);
  const pixel = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  for (const number of numbers) {
    await writeFile(join(folder, 'media', `${pictureId(number)}.png`), number === 0 ? picture(1) : pixel);
  }
  await writePackage(folder, {
    lessonId: idOf('book'),
    versionId: idOf('version'),
    sections: bookSections(),
    media: numbers.map((number) => ({
      id: pictureId(number),
      localPath: `./media/${pictureId(number)}.png`,
      mimeType: 'image/png',
    })),
  });
}
