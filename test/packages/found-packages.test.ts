import { describe, expect, test } from 'vitest';
import type { PackageFiles } from './package-folder.ts';
import { buildFiles, contentOf, manifestOf, mediaId, writePackage } from './package-folder.ts';
import { readPackage } from '../../shared/packages/read-package.ts';
import { writeArchive, zipBytes } from './zip-builder.ts';
import type { ZipPart } from './zip-builder.ts';

/** Composed, as keyboards produce it, and decomposed, as in macOS file names. */
const composed = 'Übersicht.jpg'.normalize('NFC');
const apart = composed.normalize('NFD');

const files = (name: string): PackageFiles =>
  buildFiles({
    'manifest.json': manifestOf([{ id: mediaId, localPath: `./media/${name}`, mimeType: 'image/jpeg' }]),
  });

const zipOf = async (all: PackageFiles, more: ZipPart[] = [], folder = 'a-lesson-v1/') => {
  const parts = Object.entries(all).map(([path, content]) => ({ name: `${folder}${path}`, content }));
  return writeArchive(zipBytes([...parts, ...more]));
};

async function expectPicture(path: string): Promise<void> {
  const { media, warnings } = await readPackage(path);
  expect(warnings).toEqual([]);
  expect(media).toHaveLength(1);
  const [medium] = media;
  expect(String(medium?.file && (await contentOf(await medium.file.open())))).toBe('picture');
}

describe('packages from real systems are readable', () => {
  test.each([
    [composed, apart],
    [apart, composed],
  ])(
    'with accents encoded as %j in manifest.json, and as %j in the name of the file',
    async (listed, named) => {
      const all = { ...files(listed), [`media/${named}`]: 'picture' };
      await expectPicture(await zipOf(all));
      await expectPicture(await writePackage(all));
    },
  );

  test.each([
    ['CP437, as bit 11 says', { flags: 0 }, Buffer.from([0x9a])],
    ['UTF-8 that is not declared', { flags: 0 }, Buffer.from('Ü')],
    ['UTF-8 that is declared', {}, Buffer.from('Ü')],
  ])('with a ZIP whose names are %s', async (_what, part, letter) => {
    const name = Buffer.concat([Buffer.from('a-lesson-v1/media/'), letter, Buffer.from('bersicht.jpg')]);
    await expectPicture(await zipOf(files(composed), [{ ...part, name, content: 'picture' }]));
  });

  const left = ['desktop.ini', 'Thumbs.db', '._a-lesson-v1', '.DS_Store', 'Icon\r', 'README.txt'];
  test('with system files beside the only folder, and in it', async () => {
    const inside = left.filter((name) => name !== 'README.txt');
    const all: PackageFiles = { ...files('a.jpg'), 'media/a.jpg': 'picture' };
    for (const name of inside) all[`media/${name}`] = 'x';
    const beside = [...left, '__MACOSX/a-lesson-v1/._Icon\r'].map((name) => ({ name, content: 'x' }));
    await expectPicture(await zipOf(all, beside));
    await expectPicture(await writePackage(all));
  });

  test('but not where several folders could be the package', async () => {
    const zip = await zipOf(files('a.jpg'), [{ name: 'other/lesson.json', content: '{}' }]);
    await expect(readPackage(zip)).rejects.toThrow('in the only folder there');
  });
});

test('warnings name numbers and duplicate names that JSON cannot keep, with their position', async () => {
  const { lesson, sections } = buildFiles()['lesson.json'] as Record<string, unknown>;
  const text = `{"lesson": ${JSON.stringify(lesson)},\n"sections": ${JSON.stringify(sections)},\n"n": 1e400, "n": 2}`;
  const { warnings } = await readPackage(await writePackage(buildFiles({ 'lesson.json': text })));
  expect(warnings).toEqual([
    'lesson.json: line 3, column 6: the number "1e400" becomes null; write it as a string to keep it',
    'lesson.json: line 3, column 13: the name "n" stands in its object before; the last one counts',
  ]);
});
