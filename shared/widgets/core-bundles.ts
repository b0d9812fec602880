import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, LecternError } from '../platform/errors.ts';
import type { CoreWidgetType } from '../lessons/core-widgets.ts';
import { packageRoot } from '../platform/paths.ts';

/** player/build.ts writes the bundles here. */
const folder = join(packageRoot, 'player', 'dist', 'widgets');

/**
 * Reads the files of a core widget that this release of Lectern ships; `css` is null without a stylesheet.
 *
 * @throws {LecternError} INTERNAL_ERROR when they are not built
 */
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
