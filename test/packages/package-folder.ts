import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';

import { readPackage } from '../../shared/packages/read-package.ts';
import { buildLesson, lessonId } from '../lessons/build-lesson.ts';
import { temporaryFolder } from '../support/folders.ts';

export const versionId = '22222222-2222-4222-8222-222222222222';
export const mediaId = '33333333-3333-4333-8333-333333333333';
export const otherMediaId = '44444444-4444-4444-8444-444444444444';

export function buildManifest(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    lessonId,
    title: 'A lesson',
    versionNumber: 1,
    versionId,
    publishedAt: '2026-01-15T09:00:00.000Z',
    exportedAt: '2026-01-15T09:00:00.000Z',
    formatVersion: '1.0.0',
    files: { lesson: './lesson.json', media: [], widgets: [] },
    failedMedia: [],
    attributions: [],
    ...overrides,
  };
}

/** A picture as listed in a manifest, and its file in the package. */
export const jpg = { id: mediaId, localPath: `./media/${mediaId}.jpg`, mimeType: 'image/jpeg' };
export const jpgFile = `media/${mediaId}.jpg`;

export function manifestOf(
  media: unknown[],
  widgets: unknown[] = [],
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return buildManifest({ files: { lesson: './lesson.json', media, widgets }, ...more });
}

/** The files of a package by path; other values than strings and bytes become JSON. */
export type PackageFiles = Record<string, unknown>;

export function buildFiles(overrides: PackageFiles = {}): PackageFiles {
  return { 'lesson.json': buildLesson(), 'manifest.json': buildManifest(), ...overrides };
}

export function bytesOf(content: unknown): Buffer {
  if (Buffer.isBuffer(content)) return content;
  return Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
}

/** Writes the files below a folder of this name in a new temporary one, and returns its path. */
export async function writePackage(files: PackageFiles, name = 'a-lesson-v1'): Promise<string> {
  const folder = join(await temporaryFolder(), name);
  await mkdir(folder);
  for (const [path, content] of Object.entries(files)) {
    if (content === undefined) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), bytesOf(content));
  }
  return folder;
}

/** Reads a package of these files and the two that each package has. */
export async function readFiles(files: PackageFiles, options = {}): ReturnType<typeof readPackage> {
  return readPackage(await writePackage(buildFiles(files)), options);
}

export async function contentOf(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Returns the message of a rejected promise. */
export async function messageOfFailure(promise: Promise<unknown>): Promise<string> {
  const error: unknown = await promise.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  if (!(error instanceof Error)) throw new Error('It did not fail');
  return error.message;
}
