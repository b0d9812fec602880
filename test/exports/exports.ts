import { expect } from 'vitest';
import type { LessonContent } from '../../shared/lessons/lesson-content.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { ExportManifest } from '../../shared/packages/manifest.ts';
import { readArchive } from './read-archive.ts';
import { exportPath } from '../support/factories.ts';

/** A downloaded and unpacked archive. */
export interface Export {
  bytes: Buffer;
  /** The single top-level folder. */
  folder: string;
  /** Files by path below that folder. */
  files: Map<string, Buffer>;
  /** Empty folders, which have entries of their own. */
  folders: string[];
  lesson: LessonContent;
  manifest: ExportManifest;
}

/** Downloads a version's ZIP, asserts 200, and unpacks it. */
export async function downloadExport(
  api: string,
  version: Pick<LessonVersion, 'lessonId' | '_id'>,
  headers: Record<string, string>,
): Promise<Export> {
  const response = await fetch(`${api}${exportPath(version)}`, { headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  expect({ status: response.status, ...(response.status !== 200 && { body: String(bytes) }) }).toEqual({
    status: 200,
  });
  expect(response.headers.get('content-length')).toBe(`${bytes.length}`);
  return takeApart(bytes);
}

/**
 * Returns the files of an archive. Fails when it has several top-level folders or lacks its two
 * JSON files.
 */
export async function takeApart(bytes: Buffer): Promise<Export> {
  const found = [...(await readArchive(bytes))];
  const folders = new Set(found.map(([name]) => name.split('/', 1)[0] ?? ''));
  expect(folders.size).toBe(1);
  const [folder = ''] = folders;
  const paths = found.map(([name, content]) => [name.slice(folder.length + 1), content] as const);
  const files = new Map(paths.filter(([path]) => !path.endsWith('/')));
  return {
    bytes,
    folder,
    files,
    folders: paths.map(([path]) => path).filter((path) => path.endsWith('/')),
    lesson: JSON.parse(String(files.get('lesson.json'))) as LessonContent,
    manifest: JSON.parse(String(files.get('manifest.json'))) as ExportManifest,
  };
}

/** Returns the paths of an archive's media, sorted. */
export function mediaPaths({ files }: Export): string[] {
  return [...files.keys()].filter((path) => path.startsWith('media/')).sort();
}
