import { readFileSync } from 'node:fs';
import { messageOf } from './errors.ts';

/** Returns the setting that names the file of a secret, as container platforms mount it. */
export const secretFileSetting = (name: string) => `${name}_FILE`;

/**
 * Reads the secrets that are in files. A line break at the end, which editors add, is not part of a secret.
 *
 * @returns the secrets, and a fault for each file that is not readable, is empty, or is not the only value.
 */
export function readSecretFiles(
  environment: Record<string, string | undefined>,
  names: readonly string[],
): { secrets: Record<string, string>; faults: string[] } {
  const secrets: Record<string, string> = {};
  const faults: string[] = [];
  for (const name of names) {
    const setting = secretFileSetting(name);
    const path = environment[setting];
    if (path === undefined) continue;
    if (environment[name] !== undefined) faults.push(`${setting} must not be set when ${name} is`);
    try {
      const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
      if (text !== '') secrets[name] = text;
      else faults.push(`${setting} names an empty file`);
    } catch (error) {
      faults.push(`${setting} cannot be read: ${messageOf(error)}`);
    }
  }
  return { secrets, faults };
}
