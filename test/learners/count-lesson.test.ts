import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { countLesson } from '../../shared/learners/count-lesson.ts';
import {
  claimStatistics,
  findStatistics,
  findVersionTally,
  forgetStatistics,
  requestStatistics,
} from '../../shared/models/lesson-statistics.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { PreparedLessons } from '../../shared/player/prepared-lessons.ts';
import { publishLesson } from '../player/player-lessons.ts';
import { buildOrganization } from '../support/factories.ts';
import { useHarness } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { startStatistics } from '../../worker/maintenance/statistics.ts';
import { answerTo, storeLearners } from './build-learners.ts';

const harness = useHarness();
const never = new AbortController().signal;
const hour = 3_600_000;
let versions: LessonVersion[];
let deps: Parameters<typeof countLesson>[0];

beforeAll(async () => {
  const { organization } = await buildOrganization(harness);
  const first = await publishLesson(harness, organization);
  versions = [first, await publishLesson(harness, organization, { lessonId: first.lessonId })];
  deps = { db: harness.db, lessons: new PreparedLessons(harness.db, 1024 ** 2) };
});

const lesson = () => ({
  organizationId: versions[0]?.organizationId ?? '',
  lessonId: versions[0]?.lessonId ?? '',
});

const claim = () => {
  const times = { now: new Date(Date.now() + 1000), lease: new Date(Date.now() + hour) };
  return claimStatistics(harness.db, times, { after: '', except: [] });
};

async function countAt(now: Date): Promise<void> {
  expect(await requestStatistics(harness.db, lesson())).toBe(true);
  const claimed = await claim();
  if (claimed === null) throw new Error('nothing is due');
  expect(await countLesson(deps, claimed, { signal: never, now, maxPerPart: 2 })).toBe(true);
}

const tallies = () =>
  Promise.all(
    versions.map(({ lessonId, _id }) => findVersionTally(harness.db, { lessonId, versionId: _id })),
  );

const anyState = fc.record({
  version: fc.nat(1),
  status: fc.constantFrom('not_started' as const, 'in_progress' as const, 'completed' as const),
  q2: fc.option(fc.subarray(['a', 'b', '__proto__'])),
  q3: fc.option(fc.constantFrom<unknown>(['b'], 'b', { b: 1 }, null)),
  score: fc.option(fc.constantFrom(0, 0.3333, 1, 2)),
  stepTimes: fc.option(fc.array(fc.nat(14_400_000), { maxLength: 4 }), { nil: undefined }),
  isCurrent: fc.boolean(),
});

/** A learner begins, writes, or is deleted. */
const anyEvent = fc.record({
  learner: fc.nat(7),
  isLti: fc.boolean(),
  state: anyState,
  isDeleted: fc.nat(9),
});

test('counting what changed gives the same as counting all, over any history', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(anyEvent, { maxLength: 5 }), { minLength: 2, maxLength: 4 }),
      async (rounds) => {
        const { db } = harness;
        await forgetStatistics(db, [lesson().lessonId]);
        for (const model of [db.embedProgress, db.ltiProgress]) await model.collection.deleteMany({});
        const ids = new Map<string, string>();
        // Counts are an hour apart; the activity is before each.
        const start = Date.now() - 10 * hour;
        for (const [round, events] of rounds.entries()) {
          for (const { learner, isLti, state, isDeleted } of events) {
            const name = `${learner}${isLti}`;
            const id = ids.get(name) ?? randomUUID();
            ids.set(name, id);
            const model = isLti ? db.ltiProgress : db.embedProgress;
            await model.collection.deleteOne({ _id: id as never });
            if (isDeleted === 0) {
              await forgetStatistics(db, [lesson().lessonId]);
              continue;
            }
            const { version: index, status, q2, q3, score, stepTimes, isCurrent } = state;
            const version = versions[index];
            if (version === undefined) continue;
            const at = new Date(start + round * hour);
            await storeLearners(db, version, [
              {
                ...{ _id: id, status, score, maxScore: 3, stepTimes, lastActivityAt: at },
                ...(isLti ? { ltiUserId: name } : { learnerId: name }),
                finished: status === 'completed' ? { at, score, maxScore: 3, isCurrent } : null,
                items: [
                  ...(q2 === null ? [] : [answerTo('q2', q2, { score, maxScore: 2 })]),
                  ...(q3 === null ? [] : [answerTo('q3', q3, { stepId: 's3', score: 1, maxScore: 1 })]),
                ],
              },
            ]);
          }
          await countAt(new Date(start + (round + 0.5) * hour));
        }
        const incremental = await tallies();
        await forgetStatistics(db, [lesson().lessonId]);
        await countAt(new Date());
        expect(incremental).toEqual(await tallies());
      },
    ),
    { numRuns: 8 },
  );
});

test('counts that become invalid while a worker counts are not published', async () => {
  await requestStatistics(harness.db, lesson());
  const claimed = await claim();
  await forgetStatistics(harness.db, [lesson().lessonId]);
  expect(claimed && (await countLesson(deps, claimed, { signal: never }))).toBe(false);
  expect(await findStatistics(harness.db, lesson().lessonId)).toMatchObject({ computedAt: null });
});

test('a long count, and others of its organization, delay no count of another organization', async () => {
  const { db } = harness;
  const publish = async (organization: Organization) => {
    const version = await publishLesson(harness, organization);
    await storeLearners(db, version, [{}]);
    return version;
  };
  const [large, small] = [await buildOrganization(harness), await buildOrganization(harness)];
  const slow = [await publish(large.organization), await publish(large.organization)];
  const other = await publish(small.organization);
  for (const version of [...slow, other]) await requestStatistics(db, version);
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  const isSlow = (versionId: string) => slow.some(({ _id }) => _id === versionId);
  const statistics = startStatistics({
    db,
    lessons: {
      facts: async (versionId) => {
        if (isSlow(versionId)) await released;
        return deps.lessons.facts(versionId);
      },
    },
    log: createLogger(harness.config, 'test'),
  });
  onTestFinished(() => {
    release();
    return statistics.stop();
  });
  const isCounted = async ({ lessonId }: LessonVersion) =>
    (await findStatistics(db, lessonId))?.computedAt instanceof Date;
  await waitFor('the other count', () => isCounted(other));
  expect(await Promise.all(slow.map(isCounted))).toEqual([false, false]);
  release();
  await waitFor('all counts', async () => (await Promise.all(slow.map(isCounted))).every(Boolean));
});
