import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { Uploads } from '../../shared/imports/uploads.ts';
import type { Database } from '../../shared/models/database.ts';
import { findImport } from '../../shared/models/lesson-import.ts';
import type { LessonImport } from '../../shared/models/lesson-import.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import type { Store } from '../../shared/storage/store.ts';
import { apiAccess } from '../accounts/access.ts';
import { apiErrors } from '../http/error-format.ts';
import { failure } from '../http/responses.ts';
import { lockedText } from './upload-lock.ts';

/* What the endpoints of imports and uploads share. */

export const notFoundText = 'Import not found';

const common = {
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Content',
  scope: 'content',
} as const;
export const ofList = { ...common, path: '/api/lessons/imports', access: apiAccess } as const;
export const ofOne = {
  ...common,
  path: '/api/lessons/imports/:importId',
  access: apiAccess,
  params: z.object({
    importId: z.guid('Invalid import ID format').toLowerCase().meta({ description: 'Id of the import.' }),
  }),
} as const;

export const header = (description: string, ...examples: string[]) =>
  z.string().meta({ description, ...(examples.length > 0 && { examples }) });
export const optionalHeader = (description: string, ...examples: string[]) =>
  z
    .string()
    .optional()
    .meta({ description, ...(examples.length > 0 && { examples }) });
export const locked = failure('Another request writes the upload and does not end.', lockedText);
export const notFound = failure(
  'The import does not exist, was deleted, or belongs to another organization.',
  notFoundText,
);

export interface ImportDependencies {
  db: Database;
  store: Store;
  redis: Redis;
  uploads: Uploads;
  config: Pick<Config, 'export' | 'import' | 'publicUrl' | 'redisPrefix'>;
  secrets: Pick<Secrets, 'signing'>;
}

export interface ImportRequest {
  caller: { organization: { _id: string } };
  params: { importId: string };
}

/** @throws {LecternError} NOT_FOUND */
export async function requireImport(db: Database, { caller, params }: ImportRequest): Promise<LessonImport> {
  const found = await findImport(db, params.importId, caller.organization._id);
  if (found === null) throw new LecternError('NOT_FOUND', notFoundText);
  return found;
}
