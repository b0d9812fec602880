import { mkdirSync } from 'node:fs';
import { open, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { FileStore } from '@tus/file-store';
import { Metadata, Upload } from '@tus/server';
import { findImport } from '../models/lesson-import.ts';
import type { LessonImportDb } from '../models/lesson-import.ts';
import { codeOf } from '../platform/errors.ts';
import type { Uploads } from './uploads.ts';

/** Returns the uploads in a folder of the store: `v1/uploads/<import id>`. Hosts share it as they share the store. */
export function createDiskUploads(storeDir: string, db: LessonImportDb): Uploads {
  const directory = join(storeDir, 'v1', 'uploads');
  // The library makes it later, and ends the process if that fails.
  mkdirSync(directory, { recursive: true });
  const pathOf = (importId: string) => join(directory, importId);
  return {
    tus: new FileStore({ directory, configstore: importsAsConfig(db) }),
    fileId: (importId) => importId,
    receivedBytes: (importId) => stat(pathOf(importId)).then(({ size }) => size, absent),
    async sync(importId) {
      const handle = await open(pathOf(importId), 'r+');
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
    withFile: ({ _id }, _signal, use) => use(pathOf(_id)),
    removeLeftCopies: () => Promise.resolve(),
    remove: (importId) => rm(pathOf(importId), { force: true }),
    async freeBytes() {
      const { bavail, bsize } = await statfs(directory);
      return bavail * bsize;
    },
  };
}

function absent(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}

/** Describes uploads to the library by their imports, so that it stores no second record of them. */
function importsAsConfig(db: LessonImportDb) {
  return {
    async get(id: string): Promise<Upload | undefined> {
      const found = await findImport(db, id);
      if (found?.hasUpload !== true) return undefined;
      const { size, metadata, createdAt } = found;
      return new Upload({
        ...{ id, size, offset: 0, creation_date: createdAt.toISOString() },
        ...(metadata !== '' && { metadata: Metadata.parse(metadata) }),
      });
    },
    // The import is stored before the upload is created.
    set: () => Promise.resolve(),
    delete: () => Promise.resolve(),
  };
}
