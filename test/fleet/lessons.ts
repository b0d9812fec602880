import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { expect } from 'vitest';
import yauzl from 'yauzl';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import type { Harness } from '../support/harness.ts';
import type { Origin } from '../support/origin.ts';

/** A lesson's file on the origin. */
export interface OriginFile {
  id: string;
  /** The path on the origin. */
  path: string;
  bytes: Buffer;
}

export interface PublishedLesson {
  version: LessonVersion;
  /** In archive order. */
  files: OriginFile[];
}

/**
 * Publishes a lesson whose media are on the origin: a file of each size, which the origin serves
 * at once.
 */
export async function publishLesson(
  harness: Harness,
  organization: Organization,
  origin: Origin,
  sizes: number[],
): Promise<PublishedLesson> {
  const ids = sizes.map(() => randomUUID()).sort();
  const files = sizes.map((size, index): OriginFile => {
    const id = ids[index] ?? '';
    return { id, path: `/${id}`, bytes: randomBytes(size) };
  });
  for (const { path, bytes } of files) origin.serve(path, bytes);
  const media = files.map(({ id, path }) => ({
    id,
    sourceUrl: origin.url(path),
    mimeType: 'application/pdf',
    extension: 'pdf',
  }));
  const built = await buildPackage({ media });
  try {
    return { version: await buildVersion(harness, organization, built.path), files };
  } finally {
    await rm(built.path, { recursive: true });
  }
}

/** A response of an API, read to its end. */
export interface Answer {
  status: number;
  headers: Headers;
  bytes: Buffer;
}

/** Requests a version's archive. */
export async function requestExport(
  address: string,
  { version }: Pick<PublishedLesson, 'version'>,
  headers: Record<string, string>,
): Promise<Answer> {
  const response = await fetch(`${address}${exportPath(version)}`, { headers });
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

/** Asserts that a response is a lesson's complete archive, with every file as on the origin. */
export async function expectArchive(answer: Answer, { version, files }: PublishedLesson): Promise<void> {
  expect(answer.status, answer.bytes.subarray(0, 200).toString()).toBe(200);
  const entries = await entriesOf(answer.bytes);
  const folder = `${version.slug}-v${version.versionNumber}`;
  const manifest = JSON.parse(String(entries.get(`${folder}/manifest.json`))) as {
    files: { media: { id: string; sha256: string }[] };
    failedMedia: unknown[];
  };
  expect(manifest.failedMedia).toEqual([]);
  const digests = new Map(manifest.files.media.map(({ id, sha256 }) => [id, sha256]));
  for (const { id, bytes } of files) {
    const entry = entries.get(`${folder}/media/${id}.pdf`);
    expect(entry?.equals(bytes), `the bytes of ${id}`).toBe(true);
    expect(digests.get(id)).toBe(createHash('sha256').update(bytes).digest('hex'));
  }
  expect(entries.has(`${folder}/lesson.json`)).toBe(true);
}

/** Asserts the export endpoint's 500 response with Retry-After. */
export function expectCleanFailure(answer: Answer): void {
  expect(answer.status).toBe(500);
  expect(JSON.parse(answer.bytes.toString())).toMatchObject({
    code: 'INTERNAL_ERROR',
    message: 'An unexpected error occurred while generating the export',
  });
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(answer.headers.get('etag')).toBeNull();
}

/** Returns the entries of an archive by name, each checked against its CRC-32. */
async function entriesOf(archive: Buffer): Promise<Map<string, Buffer>> {
  const entries = new Map<string, Buffer>();
  const zip = await yauzl.fromBufferPromise(archive);
  for await (const entry of zip.eachEntry()) {
    const parts: Buffer[] = [];
    for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part as Buffer);
    const bytes = Buffer.concat(parts);
    expect(crc32(bytes), entry.fileName).toBe(entry.crc32);
    entries.set(entry.fileName, bytes);
  }
  return entries;
}
