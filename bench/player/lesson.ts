import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { prose } from '../prose.ts';
import { picture } from './picture.ts';

/** A step as each contender shows it: heading, text, picture with caption, text. HTML, but for title and alt. */
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

const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
const lessonId = uuid(9000);

/** Writes the lesson as a package: a folder to import. */
export async function writePackage(folder: string): Promise<void> {
  await writePictures(join(folder, 'media'));
  const steps = sampleSteps.map(({ title, before, picture: { alt, caption }, after }, index) => ({
    id: uuid(8001 + index),
    title,
    order_index: index,
    content: {
      root: { props: {} },
      content: [
        { type: 'Text', props: { id: `before-${index}`, html: before } },
        { type: 'Image', props: { id: `picture-${index}`, src: `media:${uuid(1 + index)}`, alt, caption } },
        { type: 'Text', props: { id: `after-${index}`, html: after } },
      ],
    },
  }));
  const lesson = {
    lesson: {
      id: lessonId,
      slug: 'sample',
      title: 'Sample',
      status: 'published',
      language: 'en',
      variable_definitions: [],
      widget_settings: { overrides: {} },
    },
    sections: [{ id: uuid(9001), title: 'Section', order_index: 0, steps }],
    totalSections: 1,
    totalSteps: steps.length,
  };
  const media = sampleSteps.map(({ picture: { name } }, index) => ({
    id: uuid(1 + index),
    localPath: `./media/${name}`,
    mimeType: 'image/png',
  }));
  const manifest = {
    lessonId,
    title: 'Sample',
    versionNumber: 1,
    versionId: uuid(9002),
    formatVersion: '1.0.0',
    files: { media, widgets: [] },
  };
  await writeFile(join(folder, 'lesson.json'), JSON.stringify(lesson));
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
}
