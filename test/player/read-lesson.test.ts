import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLesson } from '../../player/lesson/read-lesson.ts';
import type { PlayedLesson } from '../../player/lesson/read-lesson.ts';
import { buildLesson, buildSection, buildStep } from '../lessons/build-lesson.ts';

const lesson = buildLesson({
  sections: [
    buildSection({ id: 's2', order_index: 2, steps: [buildStep({ id: 'd', order_index: 0 })] }),
    buildSection({
      id: 's1',
      order_index: 1,
      steps: [
        buildStep({ id: 'b', order_index: 5 }),
        buildStep({ id: 'a', order_index: 1 }),
        buildStep({ id: 'c', order_index: 5 }),
      ],
    }),
  ],
});

describe('reading a lesson', () => {
  it('sections and steps are ordered by order_index, ties by position', () => {
    const { steps } = readLesson(lesson);
    expect(steps.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'd']);
    expect(steps.map(({ sectionIndex, stepIndex }) => [sectionIndex, stepIndex])).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
      [1, 0],
    ]);
    expect(steps.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
  });

  it('accepts the player-data response, and the lesson alone', () => {
    const plain = (read: PlayedLesson) => [JSON.stringify(read), read.steps.map(read.contentOf)];
    expect(plain(readLesson({ lesson, playability: { valid: true } }))).toEqual(plain(readLesson(lesson)));
  });

  it('reads the rest of a lesson with missing pieces', () => {
    const broken = {
      lesson: { variable_definitions: [null, { name: 'a' }, { initialValue: 1 }], widget_settings: 3 },
      sections: [null, { steps: [{}, { content: { content: [null, { props: null }], zones: [] } }] }],
    };
    const lesson = readLesson(broken);
    const { steps, sections, title, variables } = lesson;
    expect(sections).toHaveLength(2);
    expect(steps).toHaveLength(2);
    expect(new Set(steps.map(({ id }) => id)).size).toBe(2);
    const block = { type: '', props: {} };
    expect(steps.map(lesson.contentOf)[1]).toEqual({ content: [block, block], root: {}, zones: {} });
    expect(title).toBe('');
    expect(variables).toEqual({ a: null });
  });

  it('rejects invalid lessons and those nested too deep', () => {
    for (const value of [undefined, null, 3, 'lesson', [], {}, { sections: {} }]) {
      expect(() => readLesson(value)).toThrow('A lesson is an object with "lesson" and "sections"');
    }
    let deep: unknown = [];
    for (let level = 0; level < 250; level += 1) deep = [deep];
    expect(() => readLesson({ lesson: {}, sections: [{ steps: [{ content: deep }] }] })).toThrow(
      '200 levels',
    );
  });

  it('reads any JSON, or gives the reason why not', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (meta, step) => {
        const played = readLesson({ lesson: meta, sections: [{ steps: [step] }] });
        expect(played.steps).toHaveLength(1);
      }),
    );
  });
});
