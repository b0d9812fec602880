import { Metadata, Upload } from '@tus/server';
import type { Context } from 'koa';
import { maxMetadataBytes, metadataSchema } from '../../shared/imports/options.ts';
import type { Uploads } from '../../shared/imports/uploads.ts';
import type { Database } from '../../shared/models/database.ts';
import { deleteImport, findImport, insertImport, sumOpenImports } from '../../shared/models/lesson-import.ts';
import type { LessonImport, NewImport } from '../../shared/models/lesson-import.ts';
import type { Organization } from '../../shared/models/organization.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { StorageQuota } from '../../shared/models/stored-bytes.ts';
import { parseRequest } from '../http/endpoint.ts';
import { failure } from '../http/responses.ts';
import type { Failure } from '../http/responses.ts';
import { tooMany } from '../http/retry-after.ts';

/** After this time an import may have ended. */
const retrySeconds = 60;

export const texts = {
  plan: 'Import is not available on your plan',
  length: 'Upload-Length must be the size of the package in bytes',
  metadata: `Upload-Metadata must be at most ${maxMetadataBytes} bytes: keys with values in Base64, separated by commas`,
  body: 'Create the upload without a body, then send the package with PATCH',
  tooLarge: (maxBytes: number) => `A package must be at most ${maxBytes} bytes`,
  noRoom: 'The store has no room for this package',
};

/** The response to {@link requireImports}. */
export const planFailure: Failure = {
  ...failure("The organization's plan does not include imports.", texts.plan),
  codes: { [texts.plan]: 'FEATURE_NOT_AVAILABLE' },
};

/** @throws {LecternError} FEATURE_NOT_AVAILABLE if the organization's plan does not include imports */
export function requireImports({ plan }: Pick<Organization, 'plan'>): void {
  if (plan !== 'edtech') throw new LecternError('FEATURE_NOT_AVAILABLE', texts.plan);
}

export interface CreateDependencies {
  db: Database;
  uploads: Uploads;
  config: Pick<Config, 'export' | 'import'>;
}

/** Parses the headers that create an upload. @throws {LecternError} INVALID_CONTENT or PAYLOAD_TOO_LARGE */
export function parseCreation(
  ctx: Pick<Context, 'get'>,
  { export: { maxBytes } }: Pick<Config, 'export'>,
): Pick<NewImport, 'size' | 'metadata' | 'fileName' | 'options'> {
  const length = ctx.get('Upload-Length');
  const size = /^\d{1,15}$/.test(length) ? Number(length) : 0;
  if (size < 1) throw new LecternError('INVALID_CONTENT', texts.length);
  if (size > maxBytes) throw new LecternError('PAYLOAD_TOO_LARGE', texts.tooLarge(maxBytes));
  const isEmpty = Number(ctx.get('Content-Length')) === 0 && ctx.get('Transfer-Encoding') === '';
  if (!isEmpty) throw new LecternError('INVALID_CONTENT', texts.body);
  const metadata = ctx.get('Upload-Metadata').trim();
  return { size, metadata, ...parseRequest(metadataSchema, parseMetadata(metadata), 'INVALID_CONTENT') };
}

function parseMetadata(header: string): Record<string, string | null> {
  if (header === '') return {};
  try {
    if (header.length <= maxMetadataBytes) return Metadata.parse(header);
  } catch {
    // The library's error repeats the rule.
  }
  throw new LecternError('INVALID_CONTENT', texts.metadata);
}

/**
 * Creates an import and its empty upload, within the limits of the organization and the store.
 *
 * @param importId the id of the import. An earlier run of the request may have created it already.
 * @throws {LecternError} TOO_MANY_REQUESTS, PAYLOAD_TOO_LARGE or INTERNAL_ERROR
 */
export async function createImport(
  { db, uploads, config }: CreateDependencies,
  organization: Organization,
  creation: Pick<NewImport, 'size' | 'metadata' | 'fileName' | 'options'>,
  importId: string,
): Promise<LessonImport> {
  const { _id: organizationId } = organization;
  // Inserts the import first, because a sweep finds an upload by its import.
  const created =
    (await findImport(db, importId, organizationId)) ??
    (await insertImport(db, { _id: importId, organizationId, ...creation }));
  try {
    // The sum includes the new import, so that concurrent requests cannot together exceed the limits.
    const own = await sumOpenImports(db, organizationId);
    const { perOrganization } = config.import;
    if (own.count > perOrganization) {
      throw tooMany(`Your organization has ${perOrganization} unfinished imports`, retrySeconds);
    }
    if (own.bytes > 2 * config.export.maxBytes) {
      throw tooMany(
        `The packages of unfinished imports are over ${2 * config.export.maxBytes} bytes together`,
        retrySeconds,
      );
    }
    // At least one byte must be free. The import counts the files: most may be stored already.
    (await StorageQuota.open(db, organization, config.import.maxStoredBytes)).add(1);
    await assertRoom(db, uploads, own.bytes);
    if ((await uploads.receivedBytes(importId)) !== null) return created;
    const { size, metadata } = creation;
    await uploads.tus.create(
      new Upload({
        ...{ id: uploads.fileId(importId), size, offset: 0 },
        ...(metadata !== '' && { metadata: Metadata.parse(metadata) }),
      }),
    );
    return created;
  } catch (error) {
    await deleteImport(db, importId);
    throw error;
  }
}

/**
 * Each package needs its size twice: as an upload, and as imported files. An organization may take only half of the
 * remaining space, because it could begin uploads and send nothing.
 */
async function assertRoom(db: Database, uploads: Uploads, ownBytes: number): Promise<void> {
  const free = await uploads.freeBytes();
  if (free === null) return;
  const othersBytes = (await sumOpenImports(db)).bytes - ownBytes;
  if (2 * ownBytes <= (free - 2 * othersBytes) / 2) return;
  throw new LecternError('INTERNAL_ERROR', 'the store is full', {
    publicMessage: texts.noRoom,
    retryAfterSeconds: retrySeconds,
  });
}
