import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { prose } from '../prose.ts';
import { numberedId, writePackage } from '../write-package.ts';
import { picture } from './picture.ts';

/**
 * A step as each contender shows it: heading, text, picture with caption, text. All fields but title and alt are HTML.
 */
export interface SampleStep {
  title: string;
  before: string;
  picture: { name: string; alt: string; caption: string };
  after: string;
}

const stepCount = 6;
const numbers = Array.from({ length: stepCount }, (_, index) => index + 1);

/** A lesson of text and pictures. */
export const sampleSteps: SampleStep[] = numbers.map((number) => ({
  title: `Step ${number}`,
  before: paragraph(40, number),
  picture: { name: `picture-${number}.png`, alt: prose(8, 100 + number), caption: prose(10, 200 + number) },
  after: paragraph(120, 300 + number) + paragraph(90, 400 + number),
}));

function paragraph(words: number, seed: number): string {
  return `<p>${prose(words, seed)}</p>`;
}

/** Writes the pictures of the steps into a folder. */
export async function writePictures(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const number of numbers) await writeFile(join(folder, `picture-${number}.png`), picture(number));
}

/** Writes the lesson as a package to import. */
export async function writeSampleLesson(folder: string): Promise<void> {
  await writePictures(join(folder, 'media'));
  const steps = sampleSteps.map(({ title, before, picture: { alt, caption }, after }, index) => ({
    id: numberedId(8001 + index),
    title,
    order_index: index,
    content: {
      root: { props: {} },
      content: [
        { type: 'Text', props: { id: `before-${index}`, html: before } },
        {
          type: 'Image',
          props: { id: `picture-${index}`, src: `media:${numberedId(1 + index)}`, alt, caption },
        },
        { type: 'Text', props: { id: `after-${index}`, html: after } },
      ],
    },
  }));
  await writePackage(folder, {
    lessonId: numberedId(9000),
    versionId: numberedId(9002),
    sections: [{ id: numberedId(9001), title: 'Section', order_index: 0, steps }],
    media: sampleSteps.map(({ picture: { name } }, index) => ({
      id: numberedId(1 + index),
      localPath: `./media/${name}`,
      mimeType: 'image/png',
    })),
  });
}
