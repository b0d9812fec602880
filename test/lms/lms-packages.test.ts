import { resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { ExportManifest } from '../../shared/packages/manifest.ts';
import { ask, expectFailure } from '../support/answers.ts';
import { buildVersion, statusPath, manifestPath } from '../support/factories.ts';
import { filesOf, listFiles, urlsOf } from '../exports/exports.ts';
import { useExportLab } from '../exports/lab.ts';
import { png } from '../exports/pictures.ts';
import { buildQuiz, hostileTitle, sections } from './lessons.ts';
import { namedSchemas, readXml, schemaFaults } from './xml-schemas.ts';

const lab = useExportLab({}, { worker: true });
let quiz: LessonVersion;
let demo: LessonVersion;

beforeAll(async () => {
  const options = { media: [{ bytes: png(1) }, { bytes: png(2) }] };
  quiz = await buildVersion(lab.harness, lab.organization, (await buildQuiz(options)).path);
  demo = await buildVersion(lab.harness, lab.organization, resolve(import.meta.dirname, '../../demo/lesson'));
});

const get = (version: LessonVersion, query: string) => lab.get(version, { query });
const files = async (version: LessonVersion, query: string) => filesOf((await get(version, query)).body);
const text = (unpacked: Map<string, Buffer>, name: string) => String(unpacked.get(name));

async function faultsIn(unpacked: Map<string, Buffer>): Promise<string[]> {
  const manifest = text(unpacked, 'imsmanifest.xml');
  const schemas = new Map([...unpacked].filter(([name]) => /\.(xsd|dtd)$/.test(name)));
  return schemaFaults(manifest, schemas, namedSchemas(manifest));
}

const formats = ['scorm12', 'scorm2004'];

test('a hostile title gives valid manifests', async () => {
  const built = await buildQuiz({ lesson: { title: hostileTitle } });
  const version = await buildVersion(lab.harness, lab.organization, built.path);
  for (const format of formats) {
    expect(await faultsIn(await files(version, `?format=${format}&passMark=79.5`)), format).toEqual([]);
  }
});

test('presets leave the pass mark out of SCORM 1.2, where platforms would decide by it before completion', async () => {
  for (const preset of ['moodle', 'sap']) {
    const unpacked = await files(quiz, `?format=scorm12&passMark=80&preset=${preset}`);
    expect(text(unpacked, 'imsmanifest.xml'), preset).not.toContain('masteryscore');
  }
});

describe.each(formats)('%s', (format) => {
  const query = `?format=${format}`;

  test('the manifest is valid against the schemas in the package, and lists every file', async () => {
    for (const version of [quiz, demo]) {
      const unpacked = await files(version, query);
      expect(await faultsIn(unpacked)).toEqual([]);
      const listed = [...text(unpacked, 'imsmanifest.xml').matchAll(/<file href="([^"]+)"/g)].map(
        ([, path]) => path,
      );
      expect(listed[0]).toBe('index.html');
      expect([...listed].sort()).toEqual(
        [...unpacked.keys()].filter((name) => name !== 'imsmanifest.xml').sort(),
      );
      // Some platforms find a file by its name alone, on any disk.
      const names = [...unpacked.keys()].map((path) => path.slice(path.lastIndexOf('/') + 1).toLowerCase());
      expect(new Set(names).size).toBe(names.length);
    }
  });

  test('the manifest has the literal prefixes and versions that platforms look for', async () => {
    const manifest = text(await files(quiz, `${query}&passMark=80`), 'imsmanifest.xml');
    const literal =
      format === 'scorm12'
        ? [
            ...['<schemaversion>1.2</schemaversion>', 'adlcp:scormtype="sco"'],
            '<adlcp:masteryscore>80</adlcp:masteryscore>',
          ]
        : [
            ...['<schemaversion>2004 4th Edition</schemaversion>', 'adlcp:scormType="sco"'],
            '<imsss:minNormalizedMeasure>0.8</imsss:minNormalizedMeasure>',
            '<imsss:deliveryControls completionSetByContent="true" objectiveSetByContent="true"/>',
            'minProgressMeasure="1.0">1.0</adlcp:completionThreshold>',
            '<adlnav:hideLMSUI>continue</adlnav:hideLMSUI>',
          ];
    for (const part of literal) expect(manifest).toContain(part);
    expect(manifest.match(/<resource /g)).toHaveLength(1);
  });

  test('manifest.json says how much of a state the platform keeps', async () => {
    const manifest = JSON.parse(text(await files(quiz, query), 'manifest.json')) as ExportManifest;
    const max = format === 'scorm12' ? 4_000 : 64_000;
    expect(manifest.package).toMatchObject({
      ...{ format, options: { passMark: null, completion: 'allSteps' } },
      stateSize: { maxCharacters: max, state: 'truncated', mayLose: ['texts'] },
    });
  });
});

/* Tests that apply to every version of SCORM. */
describe('a package of SCORM', () => {
  const query = '?format=scorm2004';

  test('the package requests nothing from Lectern', async () => {
    const unpacked = await files(quiz, query);
    for (const name of ['index.html', 'player/scorm-page.js', 'player/player.classic.js'])
      expect(text(unpacked, name)).not.toContain(lab.api);
    // Chromium and Firefox ignore handlers of these events, or stop caching the page.
    expect(text(unpacked, 'player/scorm-page.js')).not.toMatch(
      /["'`](before)?unload["'`]|onunload|onbeforeunload/,
    );
  });

  test('the file list has a signed URL for every file', async () => {
    const unpacked = await files(quiz, query);
    const urls = urlsOf(await listFiles({ api: lab.api, headers: lab.headers, query }, quiz));
    expect([...urls.keys()].sort()).toEqual(
      [...unpacked.keys()].filter((path) => path !== 'manifest.json').sort(),
    );
    for (const [path, url] of urls)
      expect((await ask(url)).body.equals(unpacked.get(path) ?? Buffer.of())).toBe(true);
  });

  test('a rebuild gives identical bytes', async () => {
    const first = await get(quiz, query);
    const { db, store } = lab.harness;
    const sha256 = first.headers.get('etag')?.replaceAll('"', '');
    const record = await db.exportRecords.findOne({ 'archive.sha256': sha256 });
    await store.archives.delete(record?.exportKey ?? '');
    expect((await get(quiz, query)).body.equals(first.body)).toBe(true);
  });

  test('the browser saves it under its own name; the options give another archive and status', async () => {
    const [plain, strict] = [await get(quiz, query), await get(quiz, `${query}&passMark=80&preset=moodle`)];
    expect(plain.headers.get('content-disposition')).toBe(`attachment; filename="a-lesson-v1-scorm2004.zip"`);
    expect(plain.headers.get('etag')).not.toBe(strict.headers.get('etag'));
    const waiting = await lab.begin(quiz, { query: `${query}&completion=finish&passMark=60.0` });
    expect(waiting.headers.get('location')).toContain(`${query}&passMark=60&completion=finish`);
    const status = await lab.get(quiz, { query: `${query}&passMark=90`, pathOf: statusPath });
    expect(JSON.parse(String(status.body))).toMatchObject({ status: 'none' });
  });
});

test.each([
  ['?format=scorm', 'Unknown export format'],
  ['?format=scorm12&include=player', 'include cannot be combined with a format'],
  ['?passMark=80', 'passMark needs a format'],
  ['?include=player&preset=moodle', 'preset needs a format'],
  ['?format=scorm12&passMark=101', 'passMark must be a number from 0 to 100 with at most 2 decimals'],
  ['?format=scorm12&completion=passed', 'completion "passed" needs a passMark'],
  ['?format=scorm12&completion=all', 'completion must be "allSteps" or "finish" or "passed"'],
  [
    '?format=scorm12&preset=lms',
    'preset must be "moodle" or "canvas" or "blackboard" or "brightspace" or "sap" or "openedx" or "cornerstone"',
  ],
])('%s gets 400: %s', async (query, message) => {
  expectFailure(await get(quiz, query), {
    ...{ status: 400, code: 'BAD_REQUEST', error: 'Bad Request', message },
  });
});

test('a lesson whose points do not fit into SCORM 1.2 gets 422 with the reason, and fits into SCORM 2004', async () => {
  const [section] = sections;
  const block = (index: number) => ({
    type: 'MultipleChoice',
    props: { id: `q-${index}`, choices: [{ id: 'a', html: 'A' }], correct: ['a'] },
  });
  const step = { id: 't', title: 'T', order_index: 0 };
  const content = { root: { props: {} }, content: Array.from({ length: 4_100 }, (_, index) => block(index)) };
  const built = await buildQuiz({ sections: [{ ...section, steps: [{ ...step, content }] }] });
  const version = await buildVersion(lab.harness, lab.organization, built.path);
  const refused = await get(version, '?format=scorm12');
  expect([refused.status, String(refused.body)]).toEqual([
    422,
    expect.stringContaining('too many steps and questions for SCORM 1.2'),
  ]);
  expect((await get(version, '?format=scorm2004')).status).toBe(200);
});

describe('a cartridge', () => {
  let quiz: LessonVersion;

  beforeAll(async () => {
    quiz = await buildVersion(lab.harness, lab.organization, (await buildQuiz()).path);
  });

  const get = (version: LessonVersion, query = '') =>
    lab.get(version, { query: `?format=cartridge${query}` });

  async function open(version: LessonVersion, query = '') {
    const unpacked = await filesOf((await get(version, query)).body);
    const link = `links/${version.lessonId}.xml`;
    expect([...unpacked.keys()].toSorted()).toEqual(['imsmanifest.xml', link]);
    return { manifest: String(unpacked.get('imsmanifest.xml')), link: String(unpacked.get(link)) };
  }

  test.each([
    ['1.3.0', ''],
    ['1.1.0', '&preset=moodle'],
  ])(
    'Common Cartridge %s holds a link to the version and nothing else, whatever its title',
    async (standard, query) => {
      const built = await buildQuiz({ lesson: { title: hostileTitle } });
      const version = await buildVersion(lab.harness, lab.organization, built.path);
      const { manifest, link } = await open(version, query);
      const { names, texts } = readXml(manifest);
      expect(names).toEqual([
        ...['manifest', 'metadata', 'schema', 'schemaversion', 'lom', 'general', 'title', 'string'],
        ...[
          'organizations',
          'organization',
          'item',
          'item',
          'title',
          'item',
          'title',
          'resources',
          'resource',
          'file',
        ],
      ]);
      expect(texts).toEqual(expect.arrayContaining(['IMS Common Cartridge', standard]));
      expect(readXml(link).texts[0]).toContain(`<b>"Fish" & 'chips'</b> ]]> &amp; </title>`);
      const { lessonId, _id } = version;
      expect(link).toContain(`launch_url>${lab.api}/lti/launch/${lessonId}/${_id}</`);
      expect(link).toContain(`name="lesson_id">${lessonId}<`);
      expect(link).toContain(`name="version_id">${_id}<`);
    },
  );

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
});
