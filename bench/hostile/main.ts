import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repairFile } from '../../shared/media/repaired-files.ts';
import { sanitizedSvg } from '../../shared/media/svg.ts';
import { openPackage } from '../../shared/packages/open-package.ts';
import { readPackage } from '../../shared/packages/read-package.ts';
import { messageOf } from '../../shared/platform/errors.ts';
import { longestBlock } from '../../test/support/longest-block.ts';
import { numberedId, packageTexts, writePackage } from '../write-package.ts';
import { measureRequests } from './requests.ts';
import { measureWorker } from './worker.ts';

/*
 * Measures how long hostile content blocks the event loop of a process that imports it, in CPU time. The baseline does
 * the same work in the process itself. The verdict is the same in both, except for limits of time and memory.
 */

const signal = new AbortController().signal;
const owner = { organizationId: 'the bench', signal };
const folder = await mkdtemp(join(tmpdir(), 'lectern-bench-hostile-'));

const html = (text: string, index = 0) => ({ type: 'Text', props: { id: `t${index}`, html: text } });
const question = (index: number) => ({
  type: 'MultipleChoice',
  props: { id: `q${index}`, prompt: 'x', choices: [{ id: 'a', html: 'a' }], correct: ['a'] },
});
const many = <T>(count: number, of: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => of(index));

const lessons: Record<string, () => unknown[]> = {
  'unclosed tags in 72 texts': () =>
    many(72, (index) => html(`<p>${'<b>'.repeat(300)}${'<p>x'.repeat(250)}`, index)),
  'elements 500 deep in 200 texts': () => many(200, (index) => html('<div>'.repeat(500), index)),
  '50,000 attributes': () => [html(`<img ${many(50_000, (index) => `a${index}=1`).join(' ')}>`)],
  '1,000,000 entities': () => [html('&amp;'.repeat(1_000_000))],
  '30 programs of line ends': () =>
    many(30, (index) => ({
      type: 'Code',
      props: { id: `c${index}`, language: 'js', code: `${'\n'.repeat(49_990)}x` },
    })),
  '15,000 blocks': () => many(15_000, (index) => html('x', index)),
  'a text of 20 MB': () => [html('x'.repeat(20_000_000))],
  'formulas 800 deep': () =>
    many(50, (index) => ({
      type: 'Math',
      props: { id: `m${index}`, latex: `${'\\sqrt{'.repeat(800)}x${'}'.repeat(800)}` },
    })),
  '200,000 gaps': () => [
    { type: 'FillInTheBlanks', props: { id: 'f', text: many(200_000, (index) => `[[${index}]]`).join('') } },
  ],
};

const svgBytes = 8_000_000;
const svgOf = (inside: string) => `<svg xmlns="http://www.w3.org/2000/svg">${inside}</svg>`;
const fill = (text: string) => text.repeat(svgBytes / text.length);
const drawings: Record<string, () => string> = {
  'a style of url(': () => `<style>${fill('url(')}</style>`,
  'a style of @import "': () => `<style>${fill('@import "')}</style>`,
  'nested elements': () => fill('<g>'),
  '600,000 attributes': () => `<g ${many(600_000, (index) => `a${index}=""`).join(' ')}/>`,
  'a text of quotation marks': () => `<title>${fill('"')}</title>`,
};

/** Up to the limit of 512 KiB. */
const captionsOf = (line: string) => `WEBVTT\n\n${line.repeat(520_000 / line.length)}`;
const media: Record<string, [extension: string, mimeType: string, bytes: () => Buffer]> = {
  'captions of line ends': ['vtt', 'text/vtt', () => Buffer.from(captionsOf('\n'))],
  'captions of malformed times': [
    'vtt',
    'text/vtt',
    () => Buffer.from(captionsOf('0:1,0 --> 0:2\u2028x\n\n')),
  ],
  'captions of SubRip': [
    'srt',
    'text/plain',
    () => Buffer.from('1\n00:00:01,000 --> 00:00:02,000\nx\n\n'.repeat(13_000)),
  ],
  // 20 MB of the smallest boxes, and of tables full of codecs.
  'an MP4 of boxes': [
    'mp4',
    'video/mp4',
    () => Buffer.concat([box('ftyp', Buffer.from('isom')), ...many(2_500_000, () => box('free'))]),
  ],
  'an MP4 of codecs': [
    'mp4',
    'video/mp4',
    () =>
      Buffer.concat([
        box('ftyp', Buffer.from('isom')),
        ...many(300, (index) => box('stsd', Buffer.alloc(65_536, `x${index}abc`))),
      ]),
  ],
  'a PNG of 65,535 pixels each way': [
    'png',
    'image/png',
    () =>
      Buffer.concat([
        Buffer.from('89504e470d0a1a0a0000000d494844520000ffff0000ffff0806000000', 'hex'),
        Buffer.alloc(1_000_000),
      ]),
  ],
};

function box(type: string, content = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.length);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
}

/** Returns the files of a package whose lesson has these blocks, and shows or offers one file. */
function packageOf(
  blocks: unknown[],
  file?: [extension: string, mimeType: string, bytes: Buffer],
): Record<string, Buffer> {
  const id = numberedId(3);
  const step = { id: 't', title: 't', order_index: 0, content: { root: {}, content: blocks } };
  const sections = [{ id: 's', title: 's', order_index: 0, steps: [step] }];
  const localPath = `./media/${id}.${file?.[0]}`;
  const texts = packageTexts({
    ...{ lessonId: numberedId(1), versionId: numberedId(2), sections },
    ...(file && { media: [{ id, localPath, mimeType: file[1] }] }),
  });
  const files = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)]));
  return { ...files, ...(file && { [localPath.slice(2)]: file[2] }) };
}

const parts: Record<string, () => Promise<void>> = {
  children: measureChildren,
  worker: measureImports,
  api: measureApi,
};
for (const [name, measure] of Object.entries(parts)) if (name === (process.argv[3] ?? name)) await measure();
await rm(folder, { recursive: true });

async function measureChildren(): Promise<void> {
  console.log('longest block of the event loop   in a child process   in the process   ratio');
  for (const [name, blocks] of Object.entries(lessons)) {
    const path = join(folder, name);
    const step = { id: 't', title: 't', order_index: 0, content: { root: {}, content: blocks() } };
    const sections = [{ id: 's', title: 's', order_index: 0, steps: [step] }];
    await writePackage(path, { lessonId: numberedId(1), versionId: numberedId(2), sections });
    await compare(
      name,
      () => openPackage({ path, options: {}, asNew: false }, owner),
      () => readPackage(path),
    );
  }
  for (const [name, inside] of Object.entries(drawings)) {
    const bytes = Buffer.from(svgOf(inside()));
    await compare(
      `SVG: ${name}`,
      () => repairFile('image/svg+xml', bytes, owner),
      () => sanitizedSvg(bytes),
    );
  }
}

async function measureImports(): Promise<void> {
  const video = [
    { type: 'Video', props: { id: 'v', src: `media:${numberedId(3)}`, captions: `media:${numberedId(3)}` } },
  ];
  await measureWorker({
    ...mapped(lessons, (blocks) => packageOf(blocks())),
    ...mapped(drawings, (inside) =>
      packageOf([html('x')], ['svg', 'image/svg+xml', Buffer.from(svgOf(inside()))]),
    ),
    ...mapped(media, ([extension, type, bytes]) => packageOf(video, [extension, type, bytes()])),
  });
}

async function measureApi(): Promise<void> {
  console.log('longest block of the API, and the request that took it');
  await measureRequests({
    'a question': () => [[question(0)]],
    '8,000 questions': () => [many(8_000, question)],
    '8,000 steps': () => many(8_000, () => [question(0)]),
    '200 texts of 200 elements': () => [many(200, (index) => html('<p>x</p>'.repeat(200), index))],
    'a text of 2 MB': () => [[html('x'.repeat(2_000_000))]],
    '15,000 blocks': () => [many(15_000, (index) => html('x', index))],
  });
}

function mapped<From, To>(all: Record<string, From>, to: (one: From) => To): Record<string, () => To> {
  return Object.fromEntries(Object.entries(all).map(([name, one]) => [name, () => to(one)]));
}

async function compare(name: string, inChild: () => unknown, inProcess: () => unknown): Promise<void> {
  const [block, verdict] = await blockOf(inChild);
  const [baseline] = await blockOf(inProcess);
  const columns = [`${block} ms`, `${baseline} ms`, (block / baseline).toFixed(2)];
  console.log(`${name.padEnd(34)} ${columns.map((text) => text.padStart(12)).join('   ')}   ${verdict}`);
}

async function blockOf(work: () => unknown): Promise<[ms: number, verdict: string]> {
  let verdict = 'accepted';
  const block = await longestBlock(async () => {
    try {
      await work();
    } catch (error) {
      verdict = messageOf(error).slice(0, 80);
    }
  });
  return [Math.round(block), verdict];
}
