import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { stepBlocks } from '../../shared/lessons/blocks.ts';
import type { LessonContent } from '../../shared/lessons/lesson-content.ts';
import { mediaReferences } from '../../shared/lessons/media-references.ts';
import { orderedSections } from '../../shared/lessons/totals.ts';
import { convertBlocks } from '../../shared/packages/convert-blocks.ts';
import { rightAnswers } from '../support/right-answers.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { buildVersion } from '../support/factories.ts';
import { mediaPaths } from './exports.ts';
import type { Export } from './exports.ts';
import { startExportLab, useExportLab } from './lab.ts';
import { temporaryFolder } from '../support/folders.ts';

/* The demo lesson, which has all kinds of widgets and media, on its way through Lectern. */

const path = resolve(import.meta.dirname, '../../demo/lesson');
const lab = useExportLab({}, { worker: true });
let lessonId: string;
let exported: Export;
beforeAll(async () => {
  const version = await buildVersion(lab.harness, lab.organization, path);
  ({ lessonId } = version);
  exported = await lab.download(version);
});

const readPackage = async (name: string): Promise<unknown> =>
  JSON.parse(await readFile(join(path, name), 'utf8'));

describe('its archive', () => {
  test('contains exactly the original media files, and references them by local paths', async () => {
    const originals = (await readdir(join(path, 'media'))).sort();
    expect(mediaPaths(exported)).toEqual(originals.map((name) => `media/${name}`));
    for (const name of originals) {
      const original = await readFile(join(path, 'media', name));
      expect(exported.files.get(`media/${name}`)?.equals(original), name).toBe(true);
    }
    const lesson = String(exported.files.get('lesson.json'));
    expect(lesson).not.toMatch(/media:[0-9a-f]{8}-/i);
    const referred = [...lesson.matchAll(/\.\/(media\/[0-9a-f-]{36}\.[a-z0-9]+)/g)].map(([, found]) => found);
    expect([...new Set(referred)].sort()).toEqual(mediaPaths(exported));
  });

  test('survives import elsewhere and another export unchanged', async () => {
    const archive = join(await temporaryFolder(), 'export.zip');
    await writeFile(archive, exported.bytes);
    const elsewhere = await startExportLab();
    onTestFinished(() => elsewhere.close());
    await elsewhere.harness.startWorker();
    const again = await elsewhere.download(
      await buildVersion(elsewhere.harness, elsewhere.organization, archive),
    );
    expect([...again.files.keys()]).toEqual([...exported.files.keys()]);
    for (const [name, bytes] of exported.files) {
      if (name !== 'manifest.json') expect(again.files.get(name)?.equals(bytes), name).toBe(true);
    }
    const withoutTimes = { publishedAt: '', exportedAt: '' };
    expect({ ...again.manifest, ...withoutTimes }).toEqual({ ...exported.manifest, ...withoutTimes });
  });
});

describe('for a learner', () => {
  interface Progress {
    versionId: string;
    maxScore: number;
  }

  /** Exchanges credentials for a token as an integrator does, and returns the URL of a path with the token. */
  async function signIn(learnerId: string) {
    const signed = await ask(`${lab.api}/api/public/sign-token`, {
      method: 'POST',
      headers: { ...lab.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ lessonId, learnerId, userAttributes: { class: '7b' } }),
    });
    const { token } = jsonOf(signed) as { token: string };
    return (name: string) => `${lab.api}/api/public/lessons/${lessonId}/${name}?token=${token}`;
  }

  const load = async (url: string) => (jsonOf(await ask(url)) as { lesson: LessonContent }).lesson;

  test('it loads with everything from its package, and every referenced media file has its bytes', async () => {
    const urlOf = await signIn('reader');
    const lesson = await load(urlOf('player-data'));
    const original = (await readPackage('lesson.json')) as LessonContent;
    convertBlocks(original);
    const steps = ({ sections }: LessonContent) =>
      sections.flatMap((section) =>
        section.steps.map(({ id, title, order_index, content }) => ({ id, title, order_index, content })),
      );
    const text = JSON.stringify(steps({ ...original, sections: orderedSections(original) }));
    const restored = text.replaceAll(/\.\/media\/([0-9a-f-]{36})\.\w+/g, 'media:$1');
    expect(steps(lesson)).toEqual(JSON.parse(restored));
    expect(lesson.totalSteps).toBe(steps(original).length);

    const files = new Map((await readdir(join(path, 'media'))).map((name) => [name.split('.')[0], name]));
    const ids = mediaReferences(lesson);
    expect(ids.length).toBe(files.size);
    for (const id of ids) {
      const response = await fetch(urlOf(`media/${id}`));
      const bytes = Buffer.from(await response.arrayBuffer());
      const same = bytes.equals(await readFile(join(path, 'media', files.get(id) ?? '')));
      expect([response.status, same]).toEqual([200, true]);
    }
  });

  test('played to its end with correct answers, it is completed with full marks, and the integrator reads them', async () => {
    const urlOf = await signIn('player');
    const { sections } = await load(urlOf('player-data'));
    let progress = jsonOf(await ask(urlOf('session'))) as Progress;
    const { maxScore } = progress;
    const positions = sections.flatMap(({ steps }, section) =>
      steps.map((step, index) => ({ section, index, step })),
    );
    for (const [at, { section, index, step }] of positions.entries()) {
      const items = [...stepBlocks(step.content)]
        .filter(({ block }) => block.type !== undefined && block.type in rightAnswers)
        .map(({ block: { type = '', props } }) => ({
          widgetId: props.id,
          answer: rightAnswers[type]?.(props),
        }));
      const saved = await ask(urlOf('session'), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          versionId: progress.versionId,
          ...{ currentSectionIndex: section, currentStepIndex: index, items },
          ...(at === positions.length - 1 && { completed: true }),
        }),
      });
      progress = jsonOf(saved) as Progress;
    }
    const url = `${lab.api}/api/public/lessons/${lessonId}/progress/player`;
    expect(jsonOf(await ask(url, { headers: lab.headers }))).toMatchObject({
      status: 'completed',
      score: maxScore,
      maxScore,
      currentSectionIndex: positions.at(-1)?.section,
      currentStepIndex: positions.at(-1)?.index,
      totalSteps: positions.length,
      userAttributes: { class: '7b' },
    });
    expect(maxScore).toBeGreaterThan(0);
  });
});
