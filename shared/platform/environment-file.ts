import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { codeOf, messageOf } from './errors.ts';

const byteOrderMark = '\ufeff';

/**
 * Returns the settings of a `.env` file; none if there is no file. It drops a byte order mark, which some editors add.
 *
 * @throws {Error} with the reason why the file is unreadable, but none of its content.
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
  // PowerShell writes UTF-16 by default; read as UTF-8, every name would be unknown.
  if (bytes.includes(0)) throw new Error(`${path} is not UTF-8 text. Save it as UTF-8.`);
  const text = bytes.toString('utf8');
  return parseEnv(text.startsWith(byteOrderMark) ? text.slice(1) : text) as Record<string, string>;
}
