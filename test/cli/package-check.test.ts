import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { lecternHere, lecternJson } from './command-line.ts';

let harness: Harness;
let withoutServers: Record<string, string>;
beforeAll(async () => {
  harness = await startHarness();
  withoutServers = { ...harness.environment, MONGODB_URI: 'mongodb://127.0.0.1:1/lectern' };
});
afterAll(() => harness.close());

const picture = Buffer.from('a picture');

const image = (id: string, props: object) => ({ type: 'Image', props: { id, alt: '', ...props } });

test('lesson check reads a folder without servers, and prints the warnings of an import', async () => {
  const sourceUrl = 'http://127.0.0.1:9/a.png';
  const { path, lessonId, mediaIds } = await buildPackage({
    media: [{ bytes: picture }, { sourceUrl }],
    blocks: ([file, external]) => [
      image('a', { src: `media:${file}` }),
      image('b', { src: `media:${external}`, captoin: '' }),
      { type: 'Globe', props: { id: 'c' } },
    ],
  });
  const [, id = ''] = mediaIds;
  expect(await lecternJson(withoutServers, 'lesson', 'check', path)).toMatchObject({
    path,
    lessonId,
    playability: { valid: true, errors: [] },
    warnings: [
      expect.stringMatching(/unknown prop "captoin"; did you mean "caption"\?$/) as string,
      'The package has no widget of the type Globe: the organization must have registered one.',
      `The media file ${id} is not downloaded: "${sourceUrl}" is not a public address.`,
    ],
    externalMedia: [{ id, sourceUrl }],
  });
  expect(await harness.db.lessons.countDocuments({ _id: lessonId })).toBe(0);
});

test('lesson check reads ZIP files as well, and an exported archive has no problems', async () => {
  const { organization } = await buildOrganization(harness);
  const { lessonId } = await buildVersion(harness, organization, (await buildPackage()).path);
  const folder = await mkdtemp(join(tmpdir(), 'lectern-check-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const zip = join(folder, 'lesson.zip');
  await lecternJson(harness.environment, 'lesson', 'export', lessonId, '--out', zip);
  expect(await lecternHere(withoutServers, 'lesson', 'check', zip)).toEqual({
    code: 0,
    signal: null,
    stdout: `${zip}: A lesson, version 1\n  nothing to correct\n`,
    stderr: '',
  });
});

test('lesson check fails for a package that cannot be played', async () => {
  const { path } = await buildPackage({ sections: [] });
  const { code, stdout } = await lecternHere(withoutServers, 'lesson', 'check', path);
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: `${path}: A lesson, version 1\n  error: The lesson has no sections\n`,
  });
});

test.each<[string, (path: string, file: string) => Promise<void>, RegExp]>([
  [
    'a link to a file outside',
    (path) => symlink('/etc/passwd', join(path, 'media', 'a.png')),
    /is a symbolic link/,
  ],
  ['a page instead of a picture', (_, file) => writeFile(file, '<!doctype html><p>Not found'), /bad_type/],
  ['an empty picture', (_, file) => writeFile(file, ''), /is empty/],
  ['no lesson', (path) => rm(join(path, 'lesson.json')), /lesson\.json: is not in the package/],
])('lesson check rejects a folder with %s with the same message as import', async (_, spoil, reason) => {
  const { organization } = await buildOrganization(harness);
  const { path, mediaIds } = await buildPackage({ media: [{ bytes: picture }] });
  await spoil(path, join(path, 'media', `${mediaIds[0]}.png`));
  const checked = await lecternHere(withoutServers, 'lesson', 'check', path);
  expect(checked).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(reason) as string });
  expect(checked).toEqual(
    await lecternHere(harness.environment, 'lesson', 'import', path, '--org', organization.slug),
  );
});
