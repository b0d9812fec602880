import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

/** Lessons made from an openly licensed textbook, beside the checkout where there are any. */
const textbook = resolve(import.meta.dirname, '../../../shared/lessons');
const demo = resolve(import.meta.dirname, '../../demo/lesson');

/** A real lesson: the folder of its package. */
export interface RealLesson {
  name: string;
  path: string;
}

/** The demo lesson, and those of the textbook; where they are missing, a skipped test says so in the totals. */
export async function realLessons(): Promise<RealLesson[]> {
  const lessons: RealLesson[] = [{ name: 'the demo lesson', path: demo }];
  const isThere = existsSync(textbook);
  if (isThere) {
    for (const name of await readdir(textbook)) lessons.push({ name, path: join(textbook, name) });
  }
  test.skipIf(!isThere)(
    isThere ? 'textbook lessons are there' : `textbook lessons, SKIPPED: there is no ${textbook}`,
    () => expect(lessons.length).toBeGreaterThan(1),
  );
  return lessons;
}

/** The demo lesson, which has all kinds of widgets and media, and the longest of the textbook: for what is the same for all. */
export async function twoRealLessons(): Promise<RealLesson[]> {
  const [demoLesson, ...others] = await realLessons();
  const sizes = await Promise.all(
    others.map(async ({ path }) => (await readFile(join(path, 'lesson.json'))).length),
  );
  const longest = others[sizes.indexOf(Math.max(...sizes))];
  return [demoLesson, longest].filter((lesson) => lesson !== undefined);
}
