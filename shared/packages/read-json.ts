import { findJsonFault, findJsonLosses } from './json-syntax.ts';
import type { FaultList } from './package-error.ts';
import type { PackageSource } from './package-source.ts';

/** Bytes of lesson.json, and of manifest.json. */
export const maxJsonBytes = 64 * 1024 ** 2;

/** More warnings of what parsing loses tell nothing new. */
const maxLosses = 20;

/**
 * Reads and parses a JSON file of a package: UTF-8, with or without a byte order mark.
 *
 * @param warnings gets what JSON.parse changes: numbers that it cannot keep, and names that are there twice.
 * @returns undefined when there is no such file or it is no JSON; the fault is in `faults` then
 * @throws PackageError when the file itself is damaged
 */
export async function readJsonFile(
  source: PackageSource,
  path: string,
  faults: FaultList,
  warnings: string[],
): Promise<unknown> {
  const file = source.find(path);
  if (file === undefined) {
    faults.add(path, 'is not in the package');
    return undefined;
  }
  if (file.size > maxJsonBytes) {
    faults.add(path, `is ${file.size} bytes; at most ${maxJsonBytes} are allowed`);
    return undefined;
  }
  const chunks: Buffer[] = [];
  for await (const chunk of await source.open(path)) chunks.push(chunk as Buffer);
  return parseJson(path, Buffer.concat(chunks), faults, warnings);
}

function parseJson(path: string, bytes: Buffer, faults: FaultList, warnings: string[]): unknown {
  const text = decodeUtf8(bytes);
  if (text === undefined) {
    const isUtf16 = ['fffe', 'feff'].includes(bytes.subarray(0, 2).toString('hex'));
    faults.add(path, isUtf16 ? 'is UTF-16; save it as UTF-8' : 'is not valid UTF-8');
    return undefined;
  }
  const fault = findJsonFault(text);
  if (fault !== undefined) {
    faults.add(path, `line ${fault.line}, column ${fault.column}: ${fault.message}`);
    return undefined;
  }
  for (const { line, column, message } of findJsonLosses(text, maxLosses)) {
    warnings.push(`${path}: line ${line}, column ${column}: ${message}`);
  }
  return JSON.parse(text);
}

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
