import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Fleet } from '../fleet/fleet.ts';
import { expectArchive, expectCleanFailure } from '../fleet/lessons.ts';
import type { PublishedLesson } from '../fleet/lessons.ts';
import type { ApiProcess } from '../fleet/processes.ts';
import { slowly } from '../support/origin.ts';
import type { seededRandom } from './random.ts';

/** Integrators that ask a fleet for archives. Every answer they get is right, or a clean failure. */
export interface Clients {
  /** The answers so far. */
  readonly answers: { right: number; refused: number };
  /** Asks one of the APIs; false when it refuses. All answers for a lesson are the same bytes. */
  ask(this: void, lesson: PublishedLesson): Promise<boolean>;
  /** Has some clients at once ask for all of these; what is refused is asked for again. */
  askForAll(this: void, lessons: readonly PublishedLesson[], clients: number): Promise<void>;
}

/** @param apis are asked in turn. */
export function startClients(fleet: Fleet, apis: readonly ApiProcess[]): Clients {
  const answers = { right: 0, refused: 0 };
  const first = new Map<PublishedLesson, Buffer>();

  async function ask(lesson: PublishedLesson): Promise<boolean> {
    const api = apis[(answers.right + answers.refused) % apis.length];
    if (api === undefined) throw new Error('No API');
    const answer = await fleet.request(api, lesson);
    if (answer.status !== 200) {
      expectCleanFailure(answer);
      answers.refused += 1;
      return false;
    }
    await expectArchive(answer, lesson);
    const before = first.get(lesson) ?? answer.bytes;
    first.set(lesson, before);
    expect(answer.bytes.equals(before)).toBe(true);
    answers.right += 1;
    return true;
  }

  async function askForAll(lessons: readonly PublishedLesson[], clients: number): Promise<void> {
    const left = [...lessons];
    const client = async () => {
      for (let lesson = left.shift(); lesson !== undefined; lesson = left.shift()) {
        // A real client waits as long as Retry-After says; these would rather be in the way of more faults.
        while (!(await ask(lesson))) await delay(500);
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
  }

  return { answers, ask, askForAll };
}

/**
 * Lessons whose media take a while, so that builds meet each other and faults hit them.
 *
 * @param pause milliseconds between the five pieces of a file: the least, and how many may come on top.
 */
export async function publishSlowLessons(
  fleet: Fleet,
  { below }: ReturnType<typeof seededRandom>,
  count: number,
  pause: { least: number; more: number },
): Promise<PublishedLesson[]> {
  const lessons: PublishedLesson[] = [];
  while (lessons.length < count) {
    const lesson = await fleet.publish([below(400_000), below(400_000), below(400_000)]);
    for (const { path, bytes } of lesson.files) {
      fleet.origin.script(path, slowly(bytes, 5, pause.least + below(pause.more)));
    }
    lessons.push(lesson);
  }
  return lessons;
}
