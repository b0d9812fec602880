import { expect, test } from 'vitest';
import type { Block } from '../../shared/lessons/lesson-content.ts';
import { FaultList } from '../../shared/packages/package-error.ts';
import { replaceUrls } from '../../shared/packages/replace-urls.ts';
import type { LessonUrlUse } from '../../shared/packages/replace-urls.ts';
import { lessonWithContent } from '../lessons/build-lesson.ts';

const file = 'https://example.org/tide.png';

test('media props and HTML of core widgets are searched for URLs, and no other texts', () => {
  const blocks: [type: string, props: object][] = [
    ['Heading', { text: file, level: file }],
    ['Image', { src: ` ${file}`, alt: file, caption: `<img src="${file}">`, zoom: file, size: file }],
    ['Video', { src: file, poster: file, captions: [{ src: file, language: file, label: file }, file, 7] }],
    ['Audio', { src: file, captions: file, transcript: file }],
    ['Callout', { kind: file, title: file, body: file }],
    ['Code', { code: file, language: file }],
    ['Math', { latex: file }],
    ['Accordion', { level: file, single: file, panels: [{ title: file, open: file }, file] }],
    ['MultipleChoice', { correct: [file], points: file, choices: [{ id: file, html: `<img src=${file}>` }] }],
    ['FillInTheBlanks', { distractors: [file], blanks: [{ id: file, answers: [file] }] }],
    ['Numeric', { correct: file, tolerance: file, unit: file, attempts: file, showAnswers: file }],
  ];
  const content = blocks.map(([type, props], index): Block => ({
    type,
    props: { id: `b${index}`, ...props },
  }));
  const found: [use: LessonUrlUse, place: string][] = [];
  const replace = (written: string, use: LessonUrlUse, place: string) => {
    found.push([use, place.replace(/^.*, (?=\w+ "b\d")/, '')]);
    return written === file ? 'media:x' : null;
  };
  replaceUrls(lessonWithContent({ content, root: {} }), replace, { faults: new FaultList() });
  expect(found).toEqual([
    ['image', 'Image "b1", src'],
    ['image', 'Image "b1", caption'],
    ['videoBlock', 'Video "b2", src'],
    ['image', 'Video "b2", poster'],
    ['captions', 'Video "b2", captions 1'],
    ['captions', 'Video "b2", captions 2'],
    ['audio', 'Audio "b3", src'],
    ['captions', 'Audio "b3", captions'],
    ['image', 'MultipleChoice "b8", choices 1, html'],
  ]);
  expect(content[1]?.props).toMatchObject({ src: 'media:x', alt: file, caption: '<img src="media:x">' });
  expect(content[2]?.props.captions).toEqual([{ src: 'media:x', language: file, label: file }, 'media:x', 7]);
});
