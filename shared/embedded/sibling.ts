import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/**
 * The arguments with which `node` runs another file of this folder: compiled files as they are, sources with
 * the loader that this process was started with. The loader is named by its full path, as the new process may
 * have another working directory. Other flags of this process (--inspect, memory limits) are not passed on:
 * they are meant for it alone.
 */
export function nodeArgumentsFor(sibling: string): string[] {
  const extension = extname(fileURLToPath(import.meta.url));
  const file = fileURLToPath(new URL(`./${sibling}${extension}`, import.meta.url));
  if (extension !== '.ts') return [file];
  const loader = createRequire(import.meta.url).resolve('tsx');
  return ['--import', pathToFileURL(loader).href, file];
}
