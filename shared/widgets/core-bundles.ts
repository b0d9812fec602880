import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, LecternError } from '../platform/errors.ts';
import type { CoreWidgetType } from '../lessons/core-widgets.ts';
import { packageRoot } from '../platform/paths.ts';

/** Where player/build.ts puts them. */
const folder = join(packageRoot, 'player', 'dist', 'widgets');

/** The files of a core widget as this Lectern ships it. @throws {LecternError} when they are not built. */
export async function readCoreBundle(type: CoreWidgetType): Promise<{ js: Buffer; css: Buffer | null }> {
  const [js, css] = await Promise.all([readBundleFile(`${type}.js`), readBundleFile(`${type}.css`)]);
  if (js === null) {
    throw new LecternError('INTERNAL_ERROR', `The core widget ${type} is not built. Run: npm run prepare`);
  }
  return { js, css };
}

async function readBundleFile(name: string): Promise<Buffer | null> {
  try {
    return await readFile(join(folder, name));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
