import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import { useHarness } from '../support/use.ts';
import { everythingStored, importInto } from './import-support.ts';

const harness = useHarness();

/** Returns blocks whose texts make a parser reopen unclosed elements in each paragraph. */
const unclosed = () =>
  Array.from({ length: 72 }, (_, index) => {
    const open = Array.from({ length: 300 }, (_el, number) => `<b id=${number}>`).join('');
    return { type: 'Text', props: { id: `t${index}`, html: `<img src=x><p>${open}${'<p>x'.repeat(250)}` } };
  });

/** Returns props with this many small objects, which take much more memory than their text. */
const objects = (count: number) => [{ type: 'Text', props: { id: 't', list: new Array(count).fill({}) } }];

const manyParts = () =>
  Array.from({ length: 60_000 }, (_, index) => ({ type: 'Text', props: { id: `t${index}`, html: 'x' } }));

/** Under load, a timer may be late by this much although nothing blocks the event loop. */
const maxBlockMs = 400;

test.each<[attack: string, blocks: () => unknown[], fault: string]>([
  ['unclosed tags in many texts', unclosed, 'The HTML of the lesson has more than 250000 elements'],
  ['millions of objects', () => objects(4_000_000), 'reading the package takes too much memory'],
  ['more blocks than a lesson has', manyParts, 'at most 20000 are allowed'],
])('%s are refused, and the event loop goes on', async (_attack, blocks, fault) => {
  const { organization } = await buildOrganization(harness);
  const { path } = await buildPackage({ blocks });
  const before = await everythingStored(harness);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  await expect(importInto(harness, organization, path)).rejects.toThrow(fault);
  delay.disable();
  expect(delay.max / 1e6).toBeLessThan(maxBlockMs);
  expect(await everythingStored(harness)).toEqual(before);
});
