import { expect, test } from 'vitest';
import { replaceTheme, storeThemeFile } from '../../shared/assets/theme-files.ts';
import type { Theme } from '../../shared/theme/theme.ts';
import { filesOf, takeApart } from './exports.ts';
import { useExportLab } from './lab.ts';
import { png } from './pictures.ts';

const lab = useExportLab({}, { worker: true });

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
