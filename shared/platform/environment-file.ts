import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { codeOf, messageOf } from './errors.ts';

const byteOrderMark = '\ufeff';

/**
 * Returns the settings of a `.env` file; none where there is no such file. A byte order mark, which some editors put
 * before the first name, is dropped.
 *
 * @throws {Error} saying why the file cannot be read, without anything of what it holds.
 */
export function readEnvironmentFile(path: string): Record<string, string> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return {};
    throw new Error(
      `${path} cannot be read (${messageOf(error)}). Correct its owner or mode, or remove it.`,
      {
        cause: error,
      },
    );
  }
  // What PowerShell writes by default; read as UTF-8, every name in it would be an unknown one.
  if (bytes.includes(0)) throw new Error(`${path} is not UTF-8 text. Save it as UTF-8.`);
  const text = bytes.toString('utf8');
  return parseEnv(text.startsWith(byteOrderMark) ? text.slice(1) : text) as Record<string, string>;
}
