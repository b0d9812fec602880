import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import mongoose from 'mongoose';
import { describe, expect, test, vi } from 'vitest';
import { zipOf } from '../../shared/erasure/learner-zip.ts';
import { useLesson } from '../player/player-lessons.ts';
import { ask } from '../support/answers.ts';
import { useApi } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { pathOf, plantLearner } from './learner-lab.ts';

const api = useApi();
const version = useLesson(api);

describe('an export that cannot go on', () => {
  /** Random, so that compression leaves more than the buffers of streams hold. */
  const text = () => randomBytes(2 ** 16).toString('base64');

  test('ends with the error of its source', async () => {
    const broken = new Error('MongoDB is gone');
    const second = vi.fn();
    async function* failing() {
      yield text();
      await setImmediate();
      throw broken;
    }
    const files = [
      { name: 'a.json', text: failing },
      { name: 'b.json', text: second },
    ];
    await expect(buffer(zipOf(files, new Date()))).rejects.toBe(broken);
    expect(second).not.toHaveBeenCalled();
  });

  test.each([
    { output: 'much', next: text },
    { output: 'hardly any', next: () => 'x' },
  ])('stops reading at once if a client leaves, with $output output, even if it fails', async ({ next }) => {
    const closed = vi.fn();
    async function* endless() {
      try {
        for (;;) {
          await setImmediate();
          yield next();
        }
      } finally {
        closed();
        await Promise.reject(new Error('MongoDB is gone'));
      }
    }
    const output = zipOf([{ name: 'a.json', text: endless }], new Date());
    await once(output, 'readable');
    output.destroy();
    await waitFor('the end of the reading', () => Promise.resolve(closed.mock.calls.length > 0));
    await setImmediate();
  });

  test('breaks off the download, and the API continues', async () => {
    const learner = await plantLearner(api, version, { source: 'embed' });
    const url = api.url + pathOf(learner, {}, '/export');
    const { prototype } = mongoose.mongo.Collection;
    const original = Reflect.get(prototype, 'find');
    const find = vi.spyOn(prototype, 'find').mockImplementation(function find(
      this: typeof prototype,
      ...options
    ) {
      if (this.collectionName === 'eventDeliveries') throw new Error('MongoDB is gone');
      return original.apply(this, options as never);
    });
    await expect(ask(url, { headers: api.headers })).rejects.toThrow();
    find.mockRestore();
    expect((await ask(url, { headers: api.headers })).status).toBe(200);
  });
});
