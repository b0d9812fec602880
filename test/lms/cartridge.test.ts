import { beforeAll, describe, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { expectFailure } from '../support/answers.ts';
import { buildVersion, manifestPath } from '../support/factories.ts';
import { filesOf } from '../exports/exports.ts';
import { useExportLab } from '../exports/lab.ts';
import { buildQuiz, hostileTitle } from './lessons.ts';
import { cartridgeFaults } from './own-schemas.ts';

/* Thin Common Cartridges: links without content. test/lti/launch-lessons.test.ts launches such links. */

const lab = useExportLab({}, { worker: true });
let quiz: LessonVersion;

beforeAll(async () => {
  quiz = await buildVersion(lab.harness, lab.organization, (await buildQuiz()).path);
});

const get = (version: LessonVersion, query = '') => lab.get(version, { query: `?format=cartridge${query}` });

async function open(version: LessonVersion, query = '') {
  const unpacked = await filesOf((await get(version, query)).body);
  const link = `links/${version.lessonId}.xml`;
  expect([...unpacked.keys()].toSorted()).toEqual(['imsmanifest.xml', link]);
  return { manifest: String(unpacked.get('imsmanifest.xml')), link: String(unpacked.get(link)) };
}

const standards = [
  ['1.3', ''],
  ['1.1', '&preset=moodle'],
] as const;

test('a hostile title stays one text', async () => {
  const built = await buildQuiz({ lesson: { title: hostileTitle } });
  const version = await buildVersion(lab.harness, lab.organization, built.path);
  for (const [standard, query] of standards) {
    const { manifest, link } = await open(version, query);
    expect(await cartridgeFaults(manifest, standard)).toEqual([]);
    expect(await cartridgeFaults(link, standard)).toEqual([]);
  }
});

describe.each(standards)('Common Cartridge %s', (standard, query) => {
  test('holds a link to the version and nothing else, and is valid', async () => {
    const { manifest, link } = await open(quiz, query);
    expect(await cartridgeFaults(manifest, standard)).toEqual([]);
    expect(await cartridgeFaults(link, standard)).toEqual([]);
    const { lessonId, _id } = quiz;
    expect(link).toContain(`launch_url>${lab.api}/lti/launch/${lessonId}/${_id}</`);
    expect(link).toContain(`name="lesson_id">${lessonId}<`);
    expect(link).toContain(`name="version_id">${_id}<`);
  });
});

test('a lesson with points is a graded assignment, and one without gets no column', async () => {
  const graded = (await open(quiz)).link;
  expect(graded).toContain('<lticm:property name="outcome">100</lticm:property>');
  expect(graded).not.toContain('gradebook_column');
  const text = (await open(await lab.publish())).link;
  expect(text).toContain('<lticm:property name="gradebook_column">none</lticm:property>');
  expect(text).not.toContain('outcome');
});

test('the browser saves it as .imscc, and options that concern packages alone get 400', async () => {
  const { headers } = await get(quiz);
  expect(headers.get('content-disposition')).toBe(`attachment; filename="a-lesson-v1-cartridge.imscc"`);
  const failure = { status: 400, code: 'BAD_REQUEST', error: 'Bad Request' };
  const message = 'passMark does not apply to format cartridge';
  expectFailure(await get(quiz, '&passMark=80'), { ...failure, message });
  expectFailure(await lab.get(quiz, { query: '?format=cartridge', pathOf: manifestPath }), {
    ...{ ...failure, message: 'A cartridge has no file list; request export-zip' },
  });
});
