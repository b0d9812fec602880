import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { useExportLab } from './lab.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { exportProfiles } from '../../shared/exports/profiles.ts';
import { publishVersion } from '../../shared/publishing/publishing.ts';
import { addWidgets, changeJson } from '../packages/import-support.ts';
import { buildPackage, buildVersion } from '../support/factories.ts';
import { filesOf, takeApart, mediaPaths } from './exports.ts';
import type { Export } from './exports.ts';
import { temporaryFolder } from '../support/folders.ts';
import { png } from './pictures.ts';
import { replaceTheme, storeThemeFile } from '../../shared/assets/theme-files.ts';
import type { Theme } from '../../shared/theme/theme.ts';
import { randomUUID } from 'node:crypto';
import { follow, mediumPath } from '../player/player-files.ts';
import type { BuiltMedium } from '../support/factories.ts';

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

test('an archive without media or widgets has empty folders for them, and a rebuild gives the same bytes', async () => {
  const noWidgets = { blocks: () => [{ type: 'Unknown', props: { id: 'a' } }] };
  const bare = await lab.download(await lab.publish(noWidgets));
  expect(bare.folders).toEqual(['media/', 'widgets/']);

  const version = await lab.build();
  const first = await lab.download(version);
  expect(first.folders).toEqual(['media/']);
  await lab.evict(version);
  expect((await lab.download(version)).bytes.equals(first.bytes)).toBe(true);
  await lab.downloadBoth(version);
  const again = await lab.downloadBoth(version, '?include=player');
  expect(again.archive.folders).toEqual(['media/']);

  const full = await lab.build(png(1));
  expect((await lab.download(full)).folders).toEqual([]);
});

test('a theme changes the archives that have a page, and no plain archive', async () => {
  const { db, store } = lab.harness;
  const id = lab.organization._id;
  const version = await lab.build(png(1));
  const get = async (query = '') => (await lab.get(version, { query })).body;
  const plain = await get();
  const playing = await get('?include=player');
  expect([...(await takeApart(playing)).files.keys()].join()).not.toContain('theme/');

  const logo = await storeThemeFile(db, store, { kind: 'logo', name: 'logo.png', bytes: png(9) });
  const theme: Theme = { color: '#c2185b', scheme: 'dark', logo, logoAlt: '</script>A & B' };
  await replaceTheme(db, { organizationId: id, id }, null, theme);
  expect((await get()).equals(plain)).toBe(true);

  const themed = await takeApart(await get('?include=player'));
  const index = themed.files.get('index.html')?.toString() ?? '';
  expect(index).toContain('data-lectern-scheme="dark"');
  expect(index).toContain('--lectern-accent:#c2185b;');
  expect(index).toContain('"logo":{"src":"./theme/logo.png","alt":"\\u003c/script>A & B"}');
  expect(themed.files.get('theme/logo.png')?.equals(png(9))).toBe(true);
  const listed = themed.manifest.files.player?.map(({ localPath }) => localPath);
  expect(listed).toContain('./theme/logo.png');

  const scorm = await filesOf(await get('?format=scorm12'));
  expect(scorm.get('imsmanifest.xml')?.toString()).toContain('href="theme/logo.png"');
  for (const part of ['--lectern-accent:#c2185b;', 'data-lectern-scheme="dark"']) {
    expect(scorm.get('index.html')?.toString()).toContain(part);
  }

  // A lesson's own theme, and back to Lectern's look: equal bytes to those before.
  await replaceTheme(db, { organizationId: id, id: version.lessonId }, null, { color: '#00695c' });
  const own = await takeApart(await get('?include=player'));
  expect(own.files.get('index.html')?.toString()).toContain('--lectern-accent:#00695c;');
  await replaceTheme(db, { organizationId: id, id: version.lessonId }, { color: '#00695c' }, null);
  await replaceTheme(db, { organizationId: id, id }, theme, null);
  expect((await get('?include=player')).equals(playing)).toBe(true);
});

function block(props: object, id = 'outer'): object {
  return { type: 'Text', props: { id, html: '', ...props } };
}

function section(content: object): object {
  const step = { id: 'step', title: 'A step', order_index: 0, content };
  return { id: 'section', title: 'A section', order_index: 0, steps: [step] };
}

/** Exports a lesson with this one step and returns the step's content. */
async function exportedContent(contentOf: (id: string) => object): Promise<{ id: string; content: unknown }> {
  const id = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';
  const version = await lab.publish({ media: [{ id, bytes: png(1) }], sections: [section(contentOf(id))] });
  const exported = await lab.download(version);
  expect(mediaPaths(exported)).toEqual([`media/${id}.png`]);
  expect(exported.manifest.failedMedia).toEqual([]);
  return { id, content: exported.lesson.sections[0]?.steps[0]?.content };
}

test('references of any position and spelling become paths, and the surrounding content stays unchanged but for sizes', async () => {
  const contentWith = (reference: string, spelled = reference, size = '') => ({
    content: [
      block({ src: reference }, 'prop'),
      block({ columns: [[], [block({ body: [block({ src: spelled }, 'b')] }, 'a')]] }, 'slot'),
      block({ pictures: ['', reference], a: { b: [{ c: spelled }] } }, 'nested'),
      block({ html: `<p>Look: <img${size} class="a" src="${spelled}" alt="&quot;"></p>` }, 'attribute'),
      block({ html: `<img srcset="${reference} 1x, ${spelled} 2x,${reference} 3x">` }, 'srcset'),
      block({ html: `<div style="background: url('${reference}')"></div>` }, 'style'),
      block({ text: `Compare ${reference} with (${spelled}), "${reference}".` }, 'sentence'),
    ],
    root: { props: {} },
  });
  const { id, content } = await exportedContent((mediaId) =>
    contentWith(`media:${mediaId}`, `media:${mediaId.toUpperCase()}`),
  );
  const path = `./media/${id}.png`;
  expect(content).toEqual(contentWith(path, path, ' width="1" height="1"'));
});

test('keys and texts that only resemble references stay unchanged', async () => {
  const contentWith = (reference: string, id: string) => ({
    content: [
      block({
        src: reference,
        text: 'media:none media:123 @media: print { media: all }',
        [`media:${id}`]: 'a key is a name',
        longer: 'social media:0a1b2c3d-4e5f',
      }),
    ],
    root: { props: {} },
  });
  const { id, content } = await exportedContent((mediaId) => contentWith(`media:${mediaId}`, mediaId));
  expect(content).toEqual(contentWith(`./media/${id}.png`, id));
});

test("replacing a picture under its id in a later version leaves the earlier version's export unchanged", async () => {
  const built = await buildPackage({ media: [{ bytes: png(10) }] });
  const [id] = built.mediaIds;
  const first = await buildVersion(lab.harness, lab.organization, built.path);

  await writeFile(join(built.path, 'media', `${id}.png`), png(11));
  const second = await buildVersion(lab.harness, lab.organization, built.path);
  const after = await lab.download(second);
  expect(after.files.get(`media/${id}.png`)?.equals(png(11))).toBe(true);

  const before = await lab.download(first);
  expect(before.files.get(`media/${id}.png`)?.equals(png(10))).toBe(true);
});

const jpeg = Buffer.concat([
  Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0000b080001000101011100', 'hex'),
  Buffer.alloc(500, 7),
]);

async function build(...media: BuiltMedium[]): Promise<{ version: LessonVersion; ids: string[] }> {
  const built = await buildPackage({ media });
  return { version: await buildVersion(lab.harness, lab.organization, built.path), ids: built.mediaIds };
}

function serve(bytes: Buffer): string {
  const path = `/${randomUUID()}`;
  lab.origin.serve(path, bytes, { etag: '"one"' });
  return lab.origin.url(path);
}

test('a JPEG declared as PNG is named after its type, or after the declared one before its download, and manifest and player report its type', async () => {
  const { version, ids } = await build({ bytes: jpeg }, { sourceUrl: serve(jpeg) });
  const { files, manifest, lesson } = await lab.download(version);
  const shown = manifest.files.media.map(({ id, localPath, mimeType }) => ({ id, localPath, mimeType }));
  const names = ids.map((id, index) => `media/${id}.${index === 0 ? 'jpg' : 'png'}`);
  const expected = ids.map((id, index) => ({ id, localPath: `./${names[index]}`, mimeType: 'image/jpeg' }));
  expect(shown).toEqual(expect.arrayContaining(expected));
  for (const [index, id] of ids.entries()) {
    expect(files.get(names[index] ?? '')?.equals(jpeg)).toBe(true);
    expect(JSON.stringify(lesson)).toContain(`./${names[index]}`);
    const served = await follow(lab.api, mediumPath(version, id));
    expect(served.headers.get('content-type')).toBe('image/jpeg');
  }
});
