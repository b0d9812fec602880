import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { presentEmbedProgress } from '../../api/progress/present-progress.ts';
import { percentText } from '../../player/lesson/end-view.ts';
import {
  answerItem,
  nextProgress,
  pointsOf,
  resumeProgress,
  savedState,
  startProgress,
} from '../../player/lesson/lesson-progress.ts';
import type { LessonProgress } from '../../player/lesson/lesson-progress.ts';
import { readLesson } from '../../player/lesson/read-lesson.ts';
import type { PlayedLesson } from '../../player/lesson/read-lesson.ts';
import { reportOf } from '../../player/lms/lesson-report.ts';
import { objectiveOf, scoreOf, statusOf } from '../../player/lms/scorm-elements.ts';
import { message } from '../../shared/i18n/message.ts';
import { presentLearner } from '../../shared/learners/listed-learner.ts';
import { addLearner, emptyTally, planTally } from '../../shared/learners/tally.ts';
import type { Block } from '../../shared/lessons/lesson-content.ts';
import { lessonMapOf } from '../../shared/lms/lesson-map.ts';
import { packageOptions, passShare } from '../../shared/lms/package-options.ts';
import { decodeState, encodeState } from '../../shared/lms/state-codec.ts';
import { scoreValuesOf } from '../../shared/lti/scores/grade.ts';
import type { EmbedProgress } from '../../shared/models/embed-progress.ts';
import { finalShare, reachesMark, shownPoints, shownShare } from '../../shared/progress/points.ts';
import { statementsOf } from '../../shared/xapi/statements.ts';
import { buildItem, buildWidget, contentOf, now, play, versionId } from './build-progress.ts';

/** A question with parts, some of which are answered right. */
interface Answered {
  kind: 'blanks' | 'matching' | 'choice' | 'custom';
  /** In hundredths. */
  points: number;
  parts: number;
  right: number;
}

const anyAnswered: fc.Arbitrary<Answered> = fc
  .record({
    kind: fc.constantFrom<Answered['kind']>('blanks', 'matching', 'choice', 'custom'),
    points: fc.constantFrom(1, 10, 25, 100, 250, 300, 700),
    parts: fc.constantFrom(1, 2, 3, 6, 7, 9, 11, 16, 32),
  })
  .chain((question) => fc.record({ ...constants(question), right: fc.nat(question.parts) }));

function constants<Fields extends object>(fields: Fields) {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, fc.constant(value)])) as {
    [Name in keyof Fields]: fc.Arbitrary<Fields[Name]>;
  };
}

function blockOf({ kind, points, parts }: Answered, index: number): Block {
  const ids = Array.from({ length: parts }, (_, part) => `p${part}`);
  const props = { points: points / 100, partialCredit: true };
  const id = `w${index}`;
  switch (kind) {
    case 'blanks':
      return buildWidget('FillInTheBlanks', id, {
        ...props,
        text: ids.map((part) => `[[${part}]]`).join(' '),
        blanks: ids.map((part) => ({ id: part, answers: ['tide'] })),
      });
    case 'matching':
      return buildWidget('Matching', id, {
        ...props,
        pairs: ids.map((part) => ({ id: part, left: part, right: part })),
      });
    case 'choice':
      return buildWidget('MultipleChoice', id, {
        ...props,
        choices: ids.map((part) => ({ id: part, html: part })),
        correct: ids,
      });
    case 'custom':
      return buildWidget('Slider', id, props);
  }
}

function answerOf({ kind, right }: Answered): unknown {
  const ids = Array.from({ length: right }, (_, part) => `p${part}`);
  if (kind === 'custom') return right;
  if (kind === 'choice') return ids;
  return Object.fromEntries(ids.map((id) => [id, kind === 'blanks' ? 'tide' : id]));
}

const claimOf = ({ kind, right, parts }: Answered) =>
  kind === 'custom' ? { score: right, maxScore: parts } : undefined;

/** The score and the maximum as whole numbers of 1/denominator points. */
function byHand(questions: readonly Answered[]) {
  const denominator = questions.reduce((product, { parts }) => product * BigInt(parts), 100n);
  const earned = questions.map(
    ({ points, parts, right }) => (BigInt(points) * BigInt(right) * denominator) / 100n / BigInt(parts),
  );
  const possible = questions.map(({ points }) => (BigInt(points) * denominator) / 100n);
  const sum = (values: bigint[]) => values.reduce((total, value) => total + value, 0n);
  return { score: sum(earned), maxScore: sum(possible), denominator };
}

/** Rounds a fraction, halves up, to ten-thousandths. */
const tenThousandths = (numerator: bigint, denominator: bigint) =>
  Number((20_000n * numerator + denominator) / (2n * denominator));

/** Plays the answers in the player, interrupted by a platform that keeps a state of so many characters. */
function playedOnPage(
  lesson: PlayedLesson,
  questions: readonly Answered[],
  resume: (progress: LessonProgress) => LessonProgress,
) {
  return questions.reduce((progress, question, index) => {
    const place = { stepId: 'step', widgetId: `w${index}` };
    const item = answerItem(lesson, place, answerOf(question), claimOf(question), now);
    return resume(nextProgress(lesson, progress, { kind: 'answer', item }));
  }, startProgress(lesson));
}

const eventOf = (lesson: PlayedLesson, progress: LessonProgress) => ({
  ...{ lessonId: lesson.id, versionId, totalSteps: 1, at: now.toISOString() },
  ...savedState(lesson, progress),
  ...shownPoints(pointsOf(lesson, progress)),
});

function statementResults(state: ReturnType<typeof play>, passingScore: number) {
  const { revision, attempt, score, maxScore } = state;
  const details = { began: false, finished: true, hasMoved: false, stepId: 'step', answers: [] };
  const statements = statementsOf(
    {
      ...{ writeId: versionId, recordId: versionId, lessonId: versionId, learnerId: 'ann' },
      ...{ homePage: 'https://lectern.test', publicUrl: 'https://lectern.test' },
      event: {
        ...{ at: now, details, revision, attempt, versionId, score, maxScore },
      },
      text: { title: '', language: 'en', steps: [], interactions: new Map(), characters: 0 },
    },
    { verbs: ['passed', 'failed'], salt: null, passingScore },
  );
  return Array.from(statements, ({ verb, statement }) => ({ verb, result: statement.result }));
}

test('the same answers give the same score and the same verdict on the page, on the server, in packages and by hand', () => {
  fc.assert(
    fc.property(
      fc.array(anyAnswered, { minLength: 1, maxLength: 9 }),
      fc.constantFrom(-1, 0, 1),
      fc.boolean(),
      (questions, distance, losesAnswers) => {
        const hand = byHand(questions);
        const score = tenThousandths(hand.score, hand.denominator) / 10_000;
        const maxScore = tenThousandths(hand.maxScore, hand.denominator) / 10_000;
        const share = tenThousandths(hand.score, hand.maxScore);
        const grade = tenThousandths(100n * hand.score, hand.maxScore) / 10_000;
        // At the mark that is shown, just above it, or just below.
        const mark = Math.min(10_000, Math.max(0, share + distance));
        const verdict = share >= mark ? 'passed' : 'failed';

        const content = contentOf([{ step: questions.map(blockOf) }]);
        const lesson = readLesson(content);
        const items = questions.map((question, index) => {
          const claim = claimOf(question);
          return buildItem(`w${index}`, answerOf(question), claim?.score ?? null, claim?.maxScore ?? null);
        });
        const state = play(lesson.outline, { items, completed: true });
        const times = { startedAt: now, completedAt: now, lastActivityAt: now };
        const record = { ...state, ...times };
        expect(presentEmbedProgress(record as EmbedProgress)).toMatchObject({ score, maxScore });
        expect(presentLearner({ ...record, _id: '', source: 'embed', learnerId: 'ann' })).toMatchObject({
          ...{ score, maxScore, percent: grade },
        });
        expect(scoreValuesOf(state)).toMatchObject({ scoreGiven: grade, scoreMaximum: 100 });
        expect(statementResults(state, mark / 10_000)).toMatchObject([
          { verb: verdict, result: { score: { scaled: share / 10_000, raw: score, max: maxScore } } },
        ]);
        const plan = planTally(lesson.outline);
        const tally = emptyTally();
        addLearner(tally, plan, record);
        expect(Object.keys(tally.totals).map(Number)).toEqual([
          Number(
            (2n * hand.score * BigInt(Math.round(1 / plan.unit)) + hand.denominator) /
              (2n * hand.denominator),
          ),
        ]);

        const map = lessonMapOf(content);
        const reported = { completed: false, passed: false };
        const limit = losesAnswers ? 0 : 4096;
        const played = playedOnPage(lesson, questions, (progress) => {
          const { text } = encodeState(map, savedState(lesson, progress), reported, limit);
          return resumeProgress(lesson, decodeState(map, text)?.state);
        });
        const event = eventOf(lesson, played);
        expect(event).toMatchObject({ score, maxScore });
        expect(message('en', 'widget.score', { score, maxScore })).toBe(`Score: ${score} of ${maxScore}`);
        expect(percentText(finalShare(pointsOf(lesson, played)), 'en')).toBe(`${share / 100}%`);
        const options = packageOptions({ passMark: mark / 100 });
        const report = reportOf(map, event, { options, passMark: passShare(options), reported });
        expect(scoreOf('2004', report)).toContainEqual(['cmi.score.scaled', String(share / 10_000)]);
        for (const version of ['1.2', '2004'] as const) {
          const values = [...scoreOf(version, report), ...statusOf(version, report)].map(
            ([, value]) => value,
          );
          expect(values).toContain(String(share / 100));
          expect(values).toContain(verdict);
        }
        const [section] = report.sections;
        expect(section && objectiveOf('2004', 0, section)).toContainEqual([
          'cmi.objectives.0.score.scaled',
          String(share / 10_000),
        ]);
      },
    ),
    { numRuns: 40 },
  );
});

describe('a share', () => {
  test.each<[title: string, share: number, mark: number, reaches: boolean, shown: number]>([
    ['of two thirds reaches the two thirds that are shown', 2 / 3, 0.6667, true, 0.6667],
    ['reaches a mark that division made', 2 / 3, 66.67 / 100, true, 0.6667],
    ['just below a mark with more decimals is not rounded up to it', 2 / 3, 0.66668, false, 0.6666],
    ['that is shown as half is half', 0.49996, 0.5, true, 0.5],
    ['that is shown as less is less', 0.49994, 0.5, false, 0.4999],
    ['of a half of the last decimal is rounded up', 7 / 160, 0.0438, true, 0.0438],
    ['of all', 1, 1, true, 1],
    ['of nothing', 0, 0, true, 0],
  ])('%s', (_title, share, mark, reaches, shown) => {
    expect({ reaches: reachesMark(share, mark), shown: shownShare(share, mark) }).toEqual({ reaches, shown });
  });
});
