import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { useExportLab } from './lab.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { exportProfiles } from '../../shared/exports/profiles.ts';
import { publishVersion } from '../../shared/publishing/publishing.ts';
import { addWidgets, changeJson } from '../packages/import-support.ts';
import { buildPackage, buildVersion } from '../support/factories.ts';
import { filesOf } from './exports.ts';
import type { Export } from './exports.ts';
import { temporaryFolder } from '../support/folders.ts';

const lab = useExportLab({}, { worker: true });

const blocks = (types: string[]) =>
  types.map((type, index) => ({ type, props: { id: `Block-${index + 1}` } }));

/** Folds paths as a case-insensitive file system does. */
const folded = (paths: Iterable<string>) => [...paths].map((path) => path.normalize('NFC').toLowerCase());

/** Exports a version in both ways and checks that no two of its files could overwrite each other. */
async function exportAll(version: LessonVersion): Promise<Export> {
  for (const query of ['?include=player', '']) {
    const { archive } = await lab.downloadBoth(version, query);
    const paths = folded(archive.files.keys());
    expect(new Set(paths).size).toBe(paths.length);
    if (query === '') return archive;
  }
  throw new Error('unreachable');
}

const widgetsOf = ({ manifest }: Export) =>
  manifest.files.widgets.map(({ widgetType, localPath, cssLocalPath }) => ({
    widgetType,
    localPath,
    cssLocalPath,
  }));

test.each([
  { types: ['FooBar', 'Foo_Bar', 'foo-bar'], css: '.foo {}' },
  { types: ['x'.repeat(250), `${'x'.repeat(250)}y`], css: undefined },
])('widget types of equal bytes and equal file names share their files: $types', async ({ types, css }) => {
  const { path } = await buildPackage({ blocks: () => blocks(types) });
  const js = `export default ${JSON.stringify(types)}`;
  await addWidgets(path, [{ type: 'shared', js, ...(css !== undefined && { css }) }]);
  // One file of the package, listed once for each type.
  await changeJson(path, 'manifest.json', ({ files }) => {
    files.widgets = files.widgets.flatMap((file) => types.map((widgetType) => ({ ...file, widgetType })));
  });
  const archive = await exportAll(await buildVersion(lab.harness, lab.organization, path));
  const listed = widgetsOf(archive);
  expect(listed.map(({ widgetType }) => widgetType).sort()).toEqual([...types].sort());
  expect(new Set(listed.map(({ localPath }) => localPath)).size).toBe(1);
  for (const { localPath } of listed) {
    expect(localPath.length).toBeLessThan(150);
    expect(String(archive.files.get(localPath.slice(2)))).toBe(js);
  }
  if (css !== undefined) expect(new Set(listed.map(({ cssLocalPath }) => cssLocalPath)).size).toBe(1);

  const zip = join(await temporaryFolder(), 'again.zip');
  await writeFile(zip, archive.bytes);
  const again = await buildVersion(lab.harness, lab.organization, zip, { asNew: true });
  expect(widgetsOf(await lab.download(again))).toEqual(listed);
});

test("paths in the folder that Windows' Extract all makes have fewer than 240 characters, whatever names authors give", async () => {
  const type = 'A very long name of a widget '.repeat(8);
  const slug = `${'a-very-long-name-of-a-lesson-'.repeat(3)}part-one`;
  const { path } = await buildPackage({ slug, blocks: () => blocks([type]) });
  await addWidgets(path, [{ type, js: 'export default 1', css: '.a {}' }]);
  const version = await buildVersion(lab.harness, lab.organization, path);
  for (const query of ['', '?include=player', '?format=scorm12', '?format=scorm2004', '?format=cmi5']) {
    const { headers, body } = await lab.get(version, { query });
    const [, name = ''] = /filename="(.*)\.zip"$/.exec(headers.get('content-disposition') ?? '') ?? [];
    expect(name).toMatch(/^a-very-long-name-of-a-lesson-.*-v1/);
    for (const file of (await filesOf(body)).keys()) {
      const extracted = `C:\\Users\\${'u'.repeat(20)}\\Downloads\\${name}\\${file}`;
      expect(extracted.length, extracted).toBeLessThan(240);
      if (!query.startsWith('?format')) expect(file.split('/')[0]).toBe(name);
    }
  }
});

test('archives are named after slug and version, and shortened names differ for other lessons and versions', () => {
  const namesOf = (slug: string, versionNumber: number) =>
    Object.values(exportProfiles).map(({ fileName }) => fileName({ slug, versionNumber }));
  const exact = 's'.repeat(54);
  expect(namesOf(exact, 12)).toEqual(
    ['.zip', '.zip', '-scorm12.zip', '-scorm2004.zip', '-cmi5.zip', '-cartridge.imscc'].map(
      (end) => `${exact}-v12${end}`,
    ),
  );
  const long = `${exact}-part-`;
  const names = [namesOf(`${long}1`, 1), namesOf(`${long}1`, 2), namesOf(`${long}2`, 1)];
  expect(new Set(names.flat()).size).toBe(15);
});

test('releases with the same id and different bytes get separate files', async () => {
  const { db, store } = lab.harness;
  const types = ['Dial-A', 'dialA'];
  const { path } = await buildPackage({ blocks: () => blocks(types) });
  await addWidgets(
    path,
    types.map((type) => ({ type, js: `export default ${JSON.stringify(type)}` })),
  );
  // The widget ids for two digests that begin with the same 8 digits.
  const widgetId = 'dial-a-01234567';
  onTestFinished(async () => {
    await db.widgetReleases.deleteMany({ widgetId });
  });
  const draft = await buildVersion(lab.harness, lab.organization, path, { publish: false });
  await db.widgetReleases.updateMany({ type: { $in: types } }, { widgetId });
  await db.lessonVersions.updateOne({ _id: draft._id }, { $set: { 'widgets.$[].widgetId': widgetId } });

  const version = await publishVersion(db, store, draft._id, { force: false });
  const { archive } = await lab.downloadBoth(version);
  for (const { widgetType, localPath } of archive.manifest.files.widgets) {
    expect(String(archive.files.get(localPath.slice(2)))).toBe(
      `export default ${JSON.stringify(widgetType)}`,
    );
  }
  expect(widgetsOf(archive).map(({ localPath }) => localPath)).toEqual([
    `./widgets/${widgetId}.js`,
    `./widgets/${widgetId}-2.js`,
  ]);
});
