import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { importPackage } from '../../shared/packages/import.ts';
import type { ImportedVersion, ImportOptions } from '../../shared/packages/import.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import type { Store } from '../../shared/storage/store.ts';
import { someBytes } from '../exports/archives.ts';
import { filesBelow } from '../storage/stores.ts';
import type { Harness } from '../support/harness.ts';
import { writeArchive, zipBytes } from './zip-builder.ts';
import type { ZipPart } from './zip-builder.ts';

/** Returns a picture whose bytes are unique to its seed. */
export function picture(seed: number): { bytes: Buffer } {
  return { bytes: someBytes(1000, seed) };
}

/** Imports as a draft, as `lesson import` does. */
export function importInto(
  { db, store, config }: Pick<Harness, 'db' | 'store' | 'config'>,
  organization: Organization,
  path: string,
  options: Partial<ImportOptions> = {},
): Promise<ImportedVersion> {
  const signal = new AbortController().signal;
  return importPackage({ db, store, config }, organization, path, { asNew: false, signal, ...options });
}

/** Returns everything about lessons in the database and the store, for comparison. */
export async function everythingStored({ db, config }: Harness): Promise<unknown> {
  const [lessons, versions, contents, media, releases] = await Promise.all([
    db.lessons.find().sort({ _id: 1 }).lean().exec(),
    db.lessonVersions.find().sort({ _id: 1 }).lean().exec(),
    db.lessonContents.find().select('versionId part').sort({ versionId: 1, part: 1 }).lean().exec(),
    db.media.find().sort({ versionId: 1, mediaId: 1 }).lean().exec(),
    db.widgetReleases.find().sort({ organizationId: 1, widgetId: 1 }).lean().exec(),
  ]);
  return { lessons, versions, contents, media, releases, files: await filesBelow(config.storeDir) };
}

/** Changes one of a package's JSON files. */
export async function changeJson(
  path: string,
  name: 'lesson.json' | 'manifest.json',
  change: (json: PackageJson) => void,
): Promise<void> {
  const json = JSON.parse(await readFile(join(path, name), 'utf8')) as PackageJson;
  change(json);
  await writeFile(join(path, name), JSON.stringify(json));
}

/** The parts of lesson.json and manifest.json that the tests change. */
export interface PackageJson {
  versionId: string;
  versionNumber: number;
  lesson: { id: string; title: string; slug: string };
  files: {
    media: { id: string; localPath: string; mimeType?: string; sha256?: string }[];
    widgets: {
      widgetType: string;
      localPath: string;
      cssLocalPath?: string;
      sha256?: string;
      cssSha256?: string;
    }[];
  };
}

/** Puts widgets into a package, each with a script and an optional stylesheet. */
export async function addWidgets(
  path: string,
  widgets: { type: string; js: string; css?: string }[],
): Promise<void> {
  await mkdir(join(path, 'widgets'), { recursive: true });
  await changeJson(path, 'manifest.json', (manifest) => {
    manifest.files.widgets = widgets.map(({ type, css }) => ({
      widgetType: type,
      localPath: `./widgets/${type}.js`,
      ...(css !== undefined && { cssLocalPath: `./widgets/${type}.css` }),
    }));
  });
  for (const { type, js, css } of widgets) {
    await writeFile(join(path, 'widgets', `${type}.js`), js);
    if (css !== undefined) await writeFile(join(path, 'widgets', `${type}.css`), css);
  }
}

/**
 * Makes a ZIP of a folder's package whose file at `damaged` does not match its checksum, which
 * only reading reveals.
 */
export async function damagedArchive(path: string, damaged: string): Promise<string> {
  const parts: ZipPart[] = [];
  for (const name of await filesBelow(path)) {
    const content = await readFile(join(path, name));
    parts.push({ name, content, method: 0, ...(name === damaged && { crc32: digestOf(content).crc32 ^ 1 }) });
  }
  if (!parts.some(({ name }) => name === damaged)) throw new Error(`${dirname(path)} has no ${damaged}`);
  return writeArchive(zipBytes(parts));
}

/** Wraps the store with a hook that each upload waits for; `count` is 1 for the first. */
export function watchUploads(store: Store, beforeUpload: (count: number) => void | Promise<void>): Store {
  let count = 0;
  return {
    ...store,
    assets: {
      ...store.assets,
      async put(source, announce) {
        count += 1;
        await beforeUpload(count);
        return store.assets.put(source, announce);
      },
    },
  };
}
