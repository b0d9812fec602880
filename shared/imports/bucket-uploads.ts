import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { S3 } from '@aws-sdk/client-s3';
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { S3Store } from '@tus/s3-store';
import type { MetadataValue } from '@tus/s3-store';
import { LRUCache } from 'lru-cache';
import { codeOf } from '../platform/errors.ts';
import type { StoreSettings } from '../platform/store-settings.ts';
import type { Uploads } from './uploads.ts';

/** The size of the parts of an upload; the library keeps each in a local file before it sends it. */
const partBytes = 8 * 1024 ** 2;

/** The parts of one upload that a process receives and sends at once. */
const partsPerUpload = 2;

/** The maximum number of uploads whose metadata a process caches. */
const maxKnown = 1_000;

/** The ids of an import and of the lease of its run. */
const copyName = /^import-([\da-f-]{36})-([\da-f-]{36})$/;

const connectTimeoutMs = 10_000;
const requestTimeoutMs = 60_000;

/**
 * Limits the parts of each upload by itself. The library limits those of all uploads together and counts a part from
 * its first byte, so slow clients would delay the uploads of all others.
 */
class UploadStore extends S3Store {
  override write(...[stream, id, offset]: Parameters<S3Store['write']>): Promise<number> {
    const Semaphore = this.partUploadSemaphore.constructor as new (count: number) => object;
    const partUploadSemaphore = { value: new Semaphore(partsPerUpload) };
    return super.write.call(Object.create(this, { partUploadSemaphore }), stream, id, offset);
  }
}

/**
 * Returns the uploads in a bucket: `uploads/<import id>`, outside the folder of the store, whose sweep would abort slow
 * uploads.
 */
export function createBucketUploads(
  settings: Extract<StoreSettings, { kind: 's3' }>,
  storeDir: string,
): Uploads {
  const { bucket } = settings;
  const clientConfig = clientConfigOf(settings);
  const client = new S3(clientConfig);
  const fileId = (importId: string) => `${settings.prefix}uploads/${importId}`;
  const spool = join(storeDir, 'spool');
  const known = new LRUCache<string, MetadataValue>({ max: maxKnown });
  const tus = new UploadStore({
    cache: {
      get: (key) => Promise.resolve(known.get(key)),
      set: (key, value) => Promise.resolve(void known.set(key, value)),
      delete: (key) => Promise.resolve(void known.delete(key)),
    },
    partSize: partBytes,
    useTags: false,
    s3ClientConfig: { ...clientConfig, bucket },
  });
  return {
    tus,
    fileId,
    receivedBytes: (importId) => tus.getUpload(fileId(importId)).then(({ offset }) => offset, absentUpload),
    // A completed object is durable.
    sync: () => Promise.resolve(),
    async withFile({ _id, leaseId }, signal, use) {
      await mkdir(spool, { recursive: true });
      const path = join(spool, `import-${_id}-${leaseId}`);
      try {
        await pipeline(await tus.read(fileId(_id)), createWriteStream(path), { signal });
        return await use(path);
      } finally {
        await rm(path, { force: true });
      }
    },
    async removeLeftCopies(isRunning) {
      for (const name of await readdir(spool).catch(noNames)) {
        const [, _id, leaseId] = copyName.exec(name) ?? [];
        if (_id === undefined || leaseId === undefined || (await isRunning({ _id, leaseId }))) continue;
        await rm(join(spool, name), { force: true });
      }
    },
    async remove(importId) {
      const Key = fileId(importId);
      // The library leaves the objects of a complete upload, and the last part of an incomplete one.
      const { Uploads: open = [] } = await client.listMultipartUploads({ Bucket: bucket, Prefix: Key });
      for (const { UploadId } of open) await client.abortMultipartUpload({ Bucket: bucket, Key, UploadId });
      for (const name of [Key, `${Key}.part`, `${Key}.info`]) {
        await client.deleteObject({ Bucket: bucket, Key: name });
      }
      known.delete(Key);
    },
    freeBytes: () => Promise.resolve(null),
  };
}

function clientConfigOf(settings: Extract<StoreSettings, { kind: 's3' }>): S3ClientConfig {
  const { region, forcePathStyle, endpoint, accessKeyId, secretAccessKey } = settings;
  return {
    region,
    forcePathStyle,
    ...(endpoint !== undefined && { endpoint }),
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && { credentials: { accessKeyId, secretAccessKey } }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: connectTimeoutMs, requestTimeout: requestTimeoutMs },
  };
}

/** Returns null for the library's error of an unknown upload. */
function absentUpload(error: unknown): null {
  const status =
    typeof error === 'object' && error !== null && 'status_code' in error ? error.status_code : codeOf(error);
  if (status === 404) return null;
  throw error;
}

/** Returns no names for a folder that does not exist. */
function noNames(error: unknown): string[] {
  if (codeOf(error) === 'ENOENT') return [];
  throw error;
}
