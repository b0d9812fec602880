import { findJsonFault, findJsonLosses } from '../lessons/json-syntax.ts';
import type { FaultList } from './package-error.ts';
import type { PackageSource } from './package-source.ts';

/** The largest size of lesson.json and of manifest.json, in bytes. */
export const maxJsonBytes = 64 * 1024 ** 2;

const maxLosses = 20;

/**
 * Reads and parses a JSON file of a package: UTF-8, with or without a byte order mark.
 *
 * @param warnings receives what JSON.parse changes: numbers that it cannot represent, and repeated names
 * @returns undefined if the file is missing or not JSON; `faults` then has the fault
 * @throws {PackageError} when the file is damaged
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
