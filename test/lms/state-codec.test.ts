import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LessonContent } from '../../shared/lessons/lesson-content.ts';
import { lessonMapOf } from '../../shared/lms/lesson-map.ts';
import type { LessonMap } from '../../shared/lms/lesson-map.ts';
import { decodeState, encodeState, losses } from '../../shared/lms/state-codec.ts';
import type { SavedItem, SavedState } from '../../shared/lms/state-codec.ts';
import { stateSizeOf } from '../../shared/lms/worst-case.ts';
import { buildLesson, buildSection, buildStep } from '../lessons/build-lesson.ts';

type Kind = 'choice' | 'partial' | 'open' | 'custom' | 'none';

/** Returns a lesson with one step for each list, and a question for each of its elements. */
function lessonOf(steps: Kind[][], variables: string[] = []): LessonContent {
  const block = (kind: Kind, index: number) => {
    const choices = Array.from({ length: 2 + (index % 5) }, (_, choice) => ({ id: `c${choice}`, html: 'x' }));
    const id = `${kind} ${index}`;
    const choice = { id, choices, correct: ['c1'], points: 2.5 };
    return {
      choice: { type: 'MultipleChoice', props: choice },
      partial: { type: 'MultipleChoice', props: { ...choice, correct: ['c0', 'c1'], partialCredit: true } },
      open: { type: 'OpenResponse', props: { id } },
      custom: { type: 'Slider', props: { id, points: 3 } },
      none: { type: 'Text', props: { id, html: 'x' } },
    }[kind];
  };
  const lesson = buildLesson({
    sections: [
      buildSection({
        steps: steps.map((kinds, index) =>
          buildStep({ id: `step-${index}`, content: { root: {}, content: kinds.map(block) } }),
        ),
      }),
    ],
  });
  lesson.lesson.variable_definitions = variables.map((name) => ({ name, type: 'string' }));
  return lesson;
}

const kinds = fc.constantFrom<Kind>('choice', 'partial', 'open', 'custom', 'none');
const lessons = fc
  .array(fc.array(kinds, { maxLength: 6 }), { minLength: 1, maxLength: 8 })
  .map((steps) => lessonMapOf(lessonOf(steps, ['name'])));

/** Without -0, which JSON lacks. */
const jsonValues = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as unknown);

/** A state with an answer to about half of the questions. */
function stateOf(map: LessonMap): fc.Arbitrary<SavedState> {
  const items = map.questions.map(({ stepId, widgetId, form }) => {
    const answer =
      form.choices === null
        ? fc.oneof(fc.string({ maxLength: 300 }), jsonValues)
        : fc.subarray([...form.choices]);
    const parts = form.hasPartialPoints ? [1.25, 2 / 3] : [];
    const score = form.points === null ? fc.constant(null) : fc.constantFrom(0, form.points, ...parts);
    return fc.option(
      fc.record({ answer, score, tries: fc.integer({ min: 1, max: 16 }) }).map((given) => ({
        ...{ stepId, widgetId, maxScore: given.score === null ? null : form.points },
        ...given,
      })),
    );
  });
  const step = fc.constantFrom(...map.steps);
  // Only a widget can set a variable.
  const isSet = map.questions.some(({ form }) => form.type === 'other');
  return fc
    .record({
      ...{ step, seen: fc.subarray(map.steps.map(({ id }) => id)), items: fc.tuple(...items) },
      ...{ name: isSet ? fc.string() : fc.constant(null), completed: fc.boolean(), atEnd: fc.boolean() },
    })
    .map(({ step: { id, sectionIndex, stepIndex }, seen, items: found, name, completed, atEnd }) => {
      const answered = found.filter((item) => item !== null);
      return {
        ...{ stepId: id, sectionIndex, stepIndex },
        items: answered.map(({ stepId, widgetId, answer, score, maxScore }): SavedItem => ({
          ...{ stepId, widgetId, answer, score, maxScore },
        })),
        variableState: { name },
        progressData: {
          ...{ visited: seen, completed, atEnd },
          tries: answered
            .filter(({ tries }) => tries > 1)
            .map(({ stepId, widgetId, tries }) => ({ stepId, widgetId, tries })),
        },
      };
    });
}

const cases = lessons.chain((map) => fc.tuple(fc.constant(map), stateOf(map)));
const reported = { completed: true, passed: false };
const unlimited = Number.MAX_SAFE_INTEGER;
/** The points of core widgets are calculated from their answers. */
const comparable = (map: LessonMap, { items, ...state }: SavedState) => ({
  ...state,
  items: items.map((item) => {
    const question = map.questions.find(
      ({ stepId, widgetId }) => stepId === item.stepId && widgetId === item.widgetId,
    );
    const { answer, score, maxScore, ...ids } = item;
    return { ...ids, answer, ...(question?.form.type === 'other' && answer !== null && { score, maxScore }) };
  }),
});

test('every state of every lesson survives a round trip', () => {
  fc.assert(
    fc.property(cases, ([map, state]) => {
      const { text, losses: lost } = encodeState(map, state, reported, unlimited);
      expect(lost).toEqual([]);
      expect(text).toMatch(/^[12][\w-]*$/);
      const decoded = decodeState(map, ` ${text} `);
      expect(decoded?.reported).toEqual(reported);
      expect(comparable(map, decoded?.state ?? state)).toEqual(comparable(map, state));
    }),
  );
});

test('a state is never longer than the worst case, and after losses never longer than the least size', () => {
  fc.assert(
    fc.property(cases, ([map, state]) => {
      const { worstCaseCharacters, leastCharacters } = stateSizeOf(map, 64_000);
      const full = encodeState(map, state, reported, unlimited).text.length;
      const least = encodeState(map, state, reported, 0);
      expect(full).toBeLessThanOrEqual(worstCaseCharacters ?? unlimited);
      expect(least.text.length).toBeLessThanOrEqual(leastCharacters);
      expect(least.losses).toEqual(losses.filter((loss) => least.losses.includes(loss)));
    }),
  );
});

test('position, seen steps and points survive every limit from the least size on', () => {
  fc.assert(
    fc.property(cases, fc.integer({ min: 0, max: 400 }), ([map, state], more) => {
      const max = stateSizeOf(map, 64_000).leastCharacters + more;
      const { text } = encodeState(map, state, reported, max);
      expect(text.length).toBeLessThanOrEqual(max);
      const decoded = decodeState(map, text)?.state;
      const { items, stepId, progressData } = decoded ?? state;
      expect({ stepId, visited: progressData.visited }).toEqual({
        stepId: state.stepId,
        visited: state.progressData.visited,
      });
      expect(items.map(({ widgetId }) => widgetId)).toEqual(state.items.map(({ widgetId }) => widgetId));
      for (const [index, item] of items.entries()) {
        // Kept answers bring their points with them.
        if (item.score !== undefined) expect(item.score).toBe(state.items[index]?.score);
        else expect(item.answer).toEqual(state.items[index]?.answer);
      }
    }),
  );
});

describe('a state is left out', () => {
  const map = lessonMapOf(lessonOf([['choice', 'open'], ['choice']]));
  const [first] = map.steps;
  const state: SavedState = {
    ...{ stepId: first?.id ?? '', sectionIndex: 0, stepIndex: 0, items: [], variableState: {} },
    progressData: { visited: [], completed: false, atEnd: false, tries: [] },
  };
  const { text } = encodeState(map, state, reported, unlimited);

  test.each([
    ['of a version with other questions', lessonOf([['choice', 'open'], ['open']])],
    ['of a version with other steps', lessonOf([['choice', 'open']])],
  ])('%s', (_, content) => {
    expect(decodeState(lessonMapOf(content), text)).toBeNull();
  });

  test.each(['', '1', '3AAAA', 'suspend data of another product', '2____', `${text}%`])('%j', (other) => {
    expect(decodeState(map, other)).toBeNull();
  });
});

test('a book of 600 choice questions fits into SCORM 1.2 without losses', () => {
  const book = lessonMapOf(lessonOf(Array.from({ length: 200 }, () => ['choice', 'choice', 'choice'])));
  expect(stateSizeOf(book, 4_000)).toMatchObject({ state: 'full', mayLose: [] });
});
