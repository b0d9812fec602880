import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { harmlessSvg, sanitizedSvg } from '../../shared/media/svg.ts';
import { openPackage } from '../../shared/packages/open-package.ts';
import { readPackage } from '../../shared/packages/read-package.ts';
import { messageOf } from '../../shared/platform/errors.ts';
import { longestBlock } from '../../test/support/longest-block.ts';
import { numberedId, writePackage } from '../write-package.ts';
import { measureRequests } from './requests.ts';

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
  props: { id: `q${index}`, prompt: 'x', options: [{ id: 'a', html: 'a', correct: true }] },
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
const fill = (text: string) => text.repeat(svgBytes / text.length);
const drawings: Record<string, () => string> = {
  'a style of url(': () => `<style>${fill('url(')}</style>`,
  'a style of @import "': () => `<style>${fill('@import "')}</style>`,
  'nested elements': () => fill('<g>'),
  '600,000 attributes': () => `<g ${many(600_000, (index) => `a${index}=""`).join(' ')}/>`,
  'a text of quotation marks': () => `<title>${fill('"')}</title>`,
};

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
  const bytes = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${inside()}</svg>`);
  await compare(
    `SVG: ${name}`,
    () => harmlessSvg(bytes, owner),
    () => sanitizedSvg(bytes),
  );
}
await rm(folder, { recursive: true });
console.log('\nlongest block of the API, and the request that took it');
await measureRequests({
  'a question': () => [question(0)],
  '8,000 questions': () => many(8_000, question),
  '200 texts of 200 elements': () => many(200, (index) => html('<p>x</p>'.repeat(200), index)),
  'a text of 2 MB': () => [html('x'.repeat(2_000_000))],
  '15,000 blocks': () => many(15_000, (index) => html('x', index)),
});

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
