import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify, stripVTControlCharacters } from 'node:util';
import { test } from 'vitest';

/** Most take half a minute by themselves, and several minutes beside the other tests. */
const timeoutMs = 480_000;

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const checks = Object.keys(scripts).filter((name) => name.startsWith('check:'));

test.each(checks)('npm run %s', { timeout: timeoutMs }, async (name) => {
  try {
    await promisify(execFile)('npm', ['run', '--silent', name], { maxBuffer: 64 * 1024 ** 2 });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(stripVTControlCharacters(`${stdout}${stderr}`), { cause: error });
  }
});
