import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readEnvironmentFile } from '../../../shared/platform/config.ts';
import { temporaryFolder } from '../../support/folders.ts';

async function fileWith(bytes: string | Buffer): Promise<string> {
  const folder = await temporaryFolder();
  const path = join(folder, '.env');
  await writeFile(path, bytes);
  return path;
}

test('quotes, # and $ mean what docs/operate/settings.md says', async () => {
  const lines = ["A='p#a$s s'", 'B="x#y"', 'C=bare # comment', 'D=$HOME', '# E=1', ''];
  expect(readEnvironmentFile(await fileWith(lines.join('\n')))).toStrictEqual({
    A: 'p#a$s s',
    B: 'x#y',
    C: 'bare',
    D: '$HOME',
  });
});

test('a byte order mark does not hide the first setting', async () => {
  expect(readEnvironmentFile(await fileWith('\ufeffPORT=1\n'))).toStrictEqual({ PORT: '1' });
});

test('without a file there are no settings', () => {
  expect(readEnvironmentFile(join(tmpdir(), 'lectern-no-such-folder', '.env'))).toStrictEqual({});
});

test('the error says that a file is unreadable or not UTF-8', async () => {
  const utf16 = await fileWith(Buffer.from('\ufeffPORT=1', 'utf16le'));
  expect(() => readEnvironmentFile(utf16)).toThrow(`${utf16} is not UTF-8 text. Save it as UTF-8.`);
  const folder = `${utf16}-folder`;
  await mkdir(folder);
  expect(() => readEnvironmentFile(folder)).toThrow(/cannot be read \(EISDIR.*Correct its owner or mode/);
});
