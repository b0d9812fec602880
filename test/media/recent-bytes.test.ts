import { expect, test } from 'vitest';
import { RecentBytes } from '../../shared/media/media-cache.ts';

const mebibyte = 1024 ** 2;

test('the bytes of a file are returned once', () => {
  const recent = new RecentBytes();
  const chunks = [Buffer.from('a'), Buffer.from('b')];
  recent.keep('one', chunks);
  recent.keep('one', [Buffer.from('again')]);
  expect(recent.take('one')).toBe(chunks);
  expect(recent.take('one')).toBeUndefined();
});

test('at most 16 MiB are kept at once, and a file without room is skipped', () => {
  const recent = new RecentBytes();
  const names = Array.from({ length: 20 }, (_, index) => `${index}`);
  for (const name of names) recent.keep(name, [Buffer.alloc(mebibyte)]);
  recent.take('0');
  recent.keep('late', [Buffer.alloc(mebibyte)]);
  const kept = [...names, 'late'].filter((name) => recent.take(name) !== undefined);
  expect(kept).toEqual([...names.slice(1, 16), 'late']);
});
