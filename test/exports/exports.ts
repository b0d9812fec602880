import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { expect } from 'vitest';
import { fromBufferPromise } from 'yauzl';
import type { SignedManifest } from '../../api/exports/present-export-manifest.ts';
import type { LessonContent } from '../../shared/lessons/lesson-content.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { ExportManifest } from '../../shared/packages/manifest.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { exportPath, manifestPath } from '../support/factories.ts';

type Version = Pick<LessonVersion, 'lessonId' | '_id'>;

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
  version: Version,
  headers: Record<string, string>,
  query = '',
): Promise<Export> {
  const response = await fetch(`${api}${exportPath(version)}${query}`, { headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  expect({ status: response.status, ...(response.status !== 200 && { body: String(bytes) }) }).toEqual({
    status: 200,
  });
  expect(response.headers.get('content-length')).toBe(`${bytes.length}`);
  return takeApart(bytes);
}

/** Unpacks an archive. Fails on a wrong checksum, several top-level folders or a missing JSON file. */
export async function takeApart(bytes: Buffer): Promise<Export> {
  const paths: [path: string, content: Buffer][] = [];
  const roots = new Set<string>();
  for await (const { fileName, content } of entriesOf(bytes)) {
    const [root = ''] = fileName.split('/', 1);
    roots.add(root);
    paths.push([fileName.slice(root.length + 1), content]);
  }
  expect(roots.size).toBe(1);
  const [folder = ''] = roots;
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

/** Returns the files of an archive by path. */
export async function filesOf(bytes: Buffer): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for await (const { fileName, content } of entriesOf(bytes)) files.set(fileName, content);
  return files;
}

/** Yields the entries of an archive in directory order, with their checksums verified. */
async function* entriesOf(bytes: Buffer): AsyncGenerator<{ fileName: string; content: Buffer }> {
  const zip = await fromBufferPromise(bytes);
  for await (const entry of zip.eachEntry()) {
    const { fileName, uncompressedSize: size } = entry;
    const content = await buffer(await zip.openReadStreamPromise(entry));
    expect({ fileName, crc32: crc32(content), size: content.length }).toEqual({
      fileName,
      crc32: entry.crc32,
      size,
    });
    yield { fileName, content };
  }
}

/** Returns the paths of an archive's media, sorted. */
export function mediaPaths({ files }: Export): string[] {
  return [...files.keys()].filter((path) => path.startsWith('media/')).sort();
}

interface Request {
  api: string;
  headers: { authorization: string };
  /** Such as '?include=player'. */
  query?: string;
}

/** Requests the export manifest of a version. */
export async function listFiles(
  { api, headers, query = '' }: Request,
  version: Version,
): Promise<SignedManifest> {
  const answer = await ask(api + manifestPath(version) + query, { headers });
  expect({ status: answer.status, cache: answer.headers.get('cache-control') }).toEqual({
    status: 200,
    cache: 'no-store',
  });
  return jsonOf(answer) as SignedManifest;
}

/** Returns the signed URL of each file by its path below the archive's top-level folder. */
export function urlsOf({ files }: SignedManifest): Map<string, string> {
  const urls = new Map([[files.lesson.path, files.lesson.url] as [string, string]]);
  for (const { localPath, url } of [...files.media, ...files.widgets, ...(files.player ?? [])])
    urls.set(localPath, url);
  for (const { cssLocalPath, cssUrl } of files.widgets) {
    if (cssLocalPath !== undefined) urls.set(cssLocalPath, cssUrl ?? '');
  }
  return new Map([...urls].map(([path, url]) => [path.replace('./', ''), url]));
}

/** Downloads an export both ways and asserts that all files but manifest.json are equal. */
export async function expectSameFiles(
  request: Request,
  version: Version,
): Promise<{ listed: SignedManifest; archive: Export }> {
  const archive = await downloadExport(request.api, version, request.headers, request.query);
  const listed = await listFiles(request, version);
  const urls = urlsOf(listed);
  const paths = [...archive.files.keys()].filter((path) => path !== 'manifest.json');
  expect([...urls.keys()].sort()).toEqual(paths.sort());
  for (const [path, url] of urls) {
    const { status, body } = await ask(url);
    const same = body.equals(archive.files.get(path) ?? Buffer.alloc(0));
    expect({ path, status, same }).toEqual({ path, status: 200, same: true });
  }
  return { listed, archive };
}

/** For tests without Redis: every incomplete archive counts as expired. */
export const noIncompleteBuilds = {
  record: () => Promise.resolve(),
  forget: () => Promise.resolve(),
  isCurrent: () => Promise.resolve(false),
};
