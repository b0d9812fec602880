import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isCoreWidget } from '../../shared/lessons/core-widgets.ts';
import { stepBlocks } from '../../shared/lessons/blocks.ts';
import type { LessonContent } from '../../shared/lessons/lesson-content.ts';
import { mediaReferences } from '../../shared/lessons/media-references.ts';
import { readQuestion } from '../../shared/lessons/multiple-choice.ts';
import { orderedSections } from '../../shared/lessons/totals.ts';
import { buildOrganization, buildVersion } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { realLessons } from '../support/real-lessons.ts';
import { ask, jsonOf } from '../support/answers.ts';

const lessons = await realLessons();

let harness: Harness;
let api: string;
let headers: { authorization: string };
let organization: Awaited<ReturnType<typeof buildOrganization>>['organization'];

beforeAll(async () => {
  harness = await startHarness();
  api = await harness.startApi();
  ({ organization, headers } = await buildOrganization(harness));
});
afterAll(() => harness.close());

/**
 * Exchanges credentials for a token as an integrator does. Returns the lesson's URL and the query
 * with the token.
 */
async function signIn(lessonId: string, learnerId: string): Promise<{ lesson: string; query: string }> {
  const signed = await ask(`${api}/api/public/sign-token`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ lessonId, learnerId, userAttributes: { class: '7b' } }),
  });
  const { token } = jsonOf(signed) as { token: string };
  return { lesson: `${api}/api/public/lessons/${lessonId}`, query: `token=${token}` };
}

interface PlayerData {
  lesson: LessonContent;
}

interface Progress {
  revision: number;
  versionId: string;
  status: string;
  score: number;
  maxScore: number;
}

describe.each(lessons)('$name', ({ path }) => {
  let lessonId: string;
  beforeAll(async () => {
    ({ lessonId } = await buildVersion(harness, organization, path));
  });

  test('loads with everything from its package', async () => {
    const { lesson, query } = await signIn(lessonId, 'reader');
    const data = jsonOf(await ask(`${lesson}/player-data?${query}`)) as PlayerData;
    const original = JSON.parse(await readFile(join(path, 'lesson.json'), 'utf8')) as LessonContent;
    const steps = ({ sections }: LessonContent) =>
      sections.flatMap((section) =>
        section.steps.map(({ id, title, order_index, content }) => ({ id, title, order_index, content })),
      );
    const text = JSON.stringify(steps({ ...original, sections: orderedSections(original) }));
    const restored = text.replaceAll(/\.\/media\/([0-9a-f-]{36})\.\w+/g, 'media:$1');
    // Compared step by step, so that a failure shows the difference and not two whole lessons.
    for (const [index, step] of (JSON.parse(restored) as unknown[]).entries()) {
      expect(steps(data.lesson)[index]).toEqual(step);
    }
    expect(data.lesson.totalSteps).toBe(steps(original).length);
  });

  test('serves every referenced media file with the bytes of the package', async () => {
    const { lesson, query } = await signIn(lessonId, 'viewer');
    const data = jsonOf(await ask(`${lesson}/player-data?${query}`)) as PlayerData;
    const files = new Map((await readdir(join(path, 'media'))).map((name) => [name.split('.')[0], name]));
    const ids = mediaReferences(data.lesson);
    expect(ids.length).toBe(files.size);
    for (const id of ids) {
      const response = await fetch(`${lesson}/media/${id}?${query}`);
      const original = await readFile(join(path, 'media', files.get(id) ?? ''));
      const bytes = Buffer.from(await response.arrayBuffer());
      expect([response.status, sha256(bytes)]).toEqual([200, sha256(original)]);
    }
  });

  test('played to its end with correct answers, is completed with full marks, and the integrator reads them', async () => {
    const { lesson, query } = await signIn(lessonId, 'player');
    const data = jsonOf(await ask(`${lesson}/player-data?${query}`)) as PlayerData;
    let progress = jsonOf(await ask(`${lesson}/session?${query}`)) as Progress;
    const { maxScore } = progress;
    const places = data.lesson.sections.flatMap(({ steps }, section) =>
      steps.map((step, index) => ({ section, index, step })),
    );
    for (const [at, { section, index, step }] of places.entries()) {
      const answered = await ask(`${lesson}/session?${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          versionId: progress.versionId,
          revision: progress.revision,
          currentSectionIndex: section,
          currentStepIndex: index,
          items: [...stepBlocks(step.content)]
            .filter(({ block }) => block.type === 'MultipleChoice' && isCoreWidget(block.type))
            .map(({ block: { props } }) => ({ widgetId: props.id, answer: readQuestion(props).correct })),
          ...(at === places.length - 1 && { completed: true }),
        }),
      });
      progress = jsonOf(answered) as Progress;
    }
    const read = jsonOf(await ask(`${lesson}/progress/player`, { headers }));
    expect(read).toMatchObject({
      status: 'completed',
      score: maxScore,
      maxScore,
      currentSectionIndex: places.at(-1)?.section,
      currentStepIndex: places.at(-1)?.index,
      totalSteps: places.length,
      userAttributes: { class: '7b' },
    });
    expect(maxScore).toBeGreaterThan(0);
  });
});

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
