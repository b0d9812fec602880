import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import project from '../../package.json' with { type: 'json' };
import { readPlayerRelease } from '../../shared/player/player-release.ts';
import { temporaryFolder } from '../support/folders.ts';

async function folderWith(files: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder();
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return folder;
}

const nameOf = async (files: Record<string, string>) =>
  (await readPlayerRelease(await folderWith(files))).name;

test('a release of the player is named after the version of Lectern and its files', async () => {
  const { name, files } = await readPlayerRelease(await folderWith({ 'b.css': 'b', 'a.js': 'a' }));
  expect(name).toMatch(new RegExp(`^${project.version.replaceAll('.', '\\.')}-[0-9a-f]{8}$`));
  expect([...files].map(([file, bytes]) => [file, String(bytes)])).toEqual([
    ['a.js', 'a'],
    ['b.css', 'b'],
  ]);
});

test('the same files have the same name everywhere, and an ongoing build does not change it', async () => {
  const name = await nameOf({ 'a.js': 'a', 'b.css': 'b' });
  expect(await nameOf({ 'b.css': 'b', 'a.js': 'a', 'a.js.12.tmp': 'half' })).toBe(name);
});

test.each([
  ['another name', { 'c.js': 'a', 'b.css': 'b' }],
  ['other bytes', { 'a.js': 'A', 'b.css': 'b' }],
  ['one file more', { 'a.js': 'a', 'b.css': 'b', 'c.js': '' }],
  ['bytes that moved to the other file', { 'a.js': 'ab', 'b.css': '' }],
])('%s makes another release', async (_what, files) => {
  expect(await nameOf(files)).not.toBe(await nameOf({ 'a.js': 'a', 'b.css': 'b' }));
});

test('without a player build, the error says what to do', async () => {
  const folder = await folderWith({});
  const told = { code: 'INTERNAL_ERROR', message: 'The player is not built. Run: npm run prepare' };
  await expect(readPlayerRelease(folder)).rejects.toMatchObject(told);
  await expect(readPlayerRelease(join(folder, 'none'))).rejects.toMatchObject(told);
});
