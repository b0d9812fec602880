import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { formatVersion } from '../../shared/packages/manifest.ts';
import { makeEmptyFolder } from '../lessons/new-folder.ts';
import { withJsonOutput } from '../terminal/json-output.ts';

/** `lectern lesson new`: writes an example for authors to change. */
export function addLessonNewCommand(group: Command): void {
  withJsonOutput(
    group
      .command('new')
      .description('write a small lesson, as an example to change')
      .argument('<folder>', 'a new or an empty folder')
      .option('--markdown', 'as Markdown, for people who write; by default as a package, for programs'),
    async (folder: string, { markdown = false }: { markdown?: boolean }) => {
      await makeEmptyFolder(folder);
      const lessonId = randomUUID();
      const files = markdown ? markdownExample(lessonId) : exampleFiles(lessonId);
      for (const [name, content] of Object.entries(files)) {
        const path = join(folder, name);
        await mkdir(dirname(path), { recursive: true });
        await writeFile(
          path,
          typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`,
          {
            flag: 'wx',
          },
        );
      }
      const lines = [
        `Wrote an example to ${folder}`,
        markdown ? '  Comments in lesson.md explain it' : '  README.md in it explains the files',
        `Check it with: lectern lesson check ${folder}`,
        `Import it with: lectern lesson import ${folder} --org SLUG --publish`,
      ];
      return { json: { path: folder, lessonId }, text: lines.join('\n') };
    },
  );
}

/** Returns the files of the example in Markdown by path. */
function markdownExample(lessonId: string): Record<string, string> {
  return { 'lesson.md': markdownLesson.replace('LESSON_ID', lessonId), 'media/leaf.svg': leaf };
}

/** Returns the files of the example by path. */
function exampleFiles(lessonId: string): Record<string, unknown> {
  const manifest = {
    ...{ lessonId, title: 'Leaves', versionNumber: 1, versionId: randomUUID(), formatVersion },
    files: {
      media: [{ id: randomUUID(), localPath: './media/leaf.svg', mimeType: 'image/svg+xml' }],
    },
  };
  return { 'README.md': readme, 'lesson.json': lesson, 'manifest.json': manifest, 'media/leaf.svg': leaf };
}

const lesson = {
  lesson: { title: 'Leaves', language: 'en', estimatedDuration: 5 },
  sections: [
    {
      title: 'What leaves do',
      steps: [
        {
          title: 'A small factory',
          content: {
            content: [
              {
                type: 'Text',
                props: { html: '<p>A leaf makes <strong>sugar</strong> from light, water and air.</p>' },
              },
              {
                type: 'Image',
                props: {
                  src: 'leaf.svg',
                  alt: 'A green leaf with its veins',
                  caption: 'The veins bring water.',
                },
              },
            ],
          },
        },
        {
          title: 'Check yourself',
          content: {
            content: [
              {
                type: 'MultipleChoice',
                props: {
                  id: 'gas',
                  prompt: 'Which gas does a leaf take from the air?',
                  choices: [
                    { id: 'oxygen', html: 'Oxygen', feedback: 'It gives that off.' },
                    { id: 'carbon-dioxide', html: 'Carbon dioxide' },
                  ],
                  correct: ['carbon-dioxide'],
                  explanation: 'From carbon dioxide and water, the leaf makes sugar.',
                },
              },
            ],
          },
        },
      ],
    },
    {
      title: 'Outside',
      steps: [
        {
          title: 'In your own words',
          content: {
            content: [
              {
                type: 'OpenResponse',
                props: {
                  id: 'autumn',
                  prompt: 'Why do many trees drop their leaves in autumn?',
                  sampleAnswer: 'They save water.',
                },
              },
            ],
          },
        },
      ],
    },
  ],
};

const markdownLesson = `---
title: Leaves
language: en
estimatedDuration: 5
# Says which lesson this is: import the folder again after each change, and it becomes the next version.
id: LESSON_ID
---

<!-- # begins a section, and ## a step. A step has texts, pictures and questions. -->

# What leaves do

## A small factory

A leaf makes **sugar** from light, water and air.

![A green leaf with its veins](media/leaf.svg "The veins bring water.")

## Check yourself

<!-- A list with [x] for the right choices is a question; the heading above it is its prompt. -->

### Which gas does a leaf take from the air?

- [ ] Oxygen
  > It gives that off.
- [x] Carbon dioxide

{attempts=2}

:::explanation
From carbon dioxide and water, the leaf makes sugar.
:::

<!-- Double brackets are a gap. Learners may type any of the answers. -->

Leaves are green because of [[chlorophyll|leaf green]].

# Outside

## In your own words

:::open-response
Why do many trees drop their leaves in autumn?
:::
:::sample-answer
They save water.
:::
`;

const readme = `# A lesson package

Change these files, and then run:

    lectern lesson check FOLDER
    lectern lesson import FOLDER --org SLUG --publish

Import the folder again after each change: it becomes the next version of the lesson.

- lesson.json is the lesson: sections, their steps, and the blocks of each step, in the order in which learners see
  them. A block has a \`type\`, such as Text, Image or MultipleChoice, and \`props\`.
- Questions have an \`id\`, by which Lectern finds learners' answers again after you change the words. Other ids are
  optional.
- manifest.json lists each file in media/, with an id (a UUID) and its type. Blocks name the file: \`"src": "leaf.svg"\`.
  Keep \`lessonId\`: it says which lesson this is. A copy for another lesson needs another one.

docs/packages.md of Lectern describes all fields, and docs/widgets.md all blocks.
`;

const leaf = `<svg xmlns="http://www.w3.org/2000/svg" width="480" height="320" viewBox="0 0 480 320">
  <path d="M60 270C60 110 190 40 430 50c0 180-130 260-370 220z" fill="#5b9a3c"/>
  <path d="M40 290L330 110M150 222l-10-80M220 178l-4-78M190 197l100 30M260 153l90 20" fill="none" stroke="#d9ecc8" stroke-width="6" stroke-linecap="round"/>
</svg>
`;
