import { z } from 'zod';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { ExportJob } from '../../shared/exports/jobs.ts';
import { profileParameters, selectProfile } from '../../shared/exports/profiles.ts';
import { packageParameters, packageQuerySchema } from '../../shared/exports/package-query.ts';
import type { ExportQueue } from '../../shared/exports/queues.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Logger } from '../../shared/platform/log.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import type { Store } from '../../shared/storage/store.ts';
import type { Database } from '../../shared/models/database.ts';
import { findPublishedVersion } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { findLessonTheme } from '../../shared/models/theme.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { exportAccess } from '../accounts/access.ts';
import type { EndpointContext } from '../http/endpoint.ts';
import { exportErrors } from '../http/error-format.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { failure } from '../http/responses.ts';
import type { PlayerReleases } from '../player/player-releases.ts';
import type { ArchiveRequestDependencies } from './archive-requests.ts';

const uuid = (name: string) =>
  z
    .guid(`Invalid ${name} ID`)
    .toLowerCase()
    .meta({ description: `Id of the ${name}.` });
const params = z.object({ lessonId: uuid('lesson'), versionId: uuid('version') });

/** The parameters that select an archive's profile. */
const selecting = Object.fromEntries(
  profileParameters.map(({ name, values, fault, description }) => [
    name,
    z
      .literal(values, fault)
      .optional()
      .meta({ description: `${description} Any other value gets 400.` }),
  ]),
);
const options = Object.fromEntries(
  packageParameters.map(({ name, description }) => [
    name,
    packageQuerySchema.shape[name].meta({ description }),
  ]),
);
const query = z.object({ ...selecting, ...options });

/** Dependencies of the export endpoints. */
export interface ExportDependencies {
  config: Pick<Config, 'publicUrl' | 'sendfileHeader'>;
  log: Logger;
  db: Database;
  store: Store;
  secrets: Secrets;
  queue: ExportQueue;
  exports: ArchiveRequestDependencies;
  player: Pick<PlayerReleases, 'name'>;
}

/** The common part of all definitions of export endpoints. */
export const exportEndpoint = {
  access: exportAccess,
  scope: 'read',
  errors: exportErrors,
  params,
  query,
  tag: 'Export',
} as const;

export const planFault = 'Export is not available on your plan';
const notFound = 'Published version not found';

/** The responses to requests that {@link authorizeExport}, or the validation before it, rejects. */
export const exportRefusals = {
  400: failure('An id in the path is not a UUID, or a query parameter has an invalid value or combination.'),
  403: {
    ...failure(
      "The credentials lack the scope `read`, or the organization's plan does not include export.",
      planFault,
    ),
    codes: { [planFault]: 'FEATURE_NOT_AVAILABLE' },
  },
  404: failure(
    "The lesson or version does not exist, is deleted, is another organization's, or is not published.",
    notFound,
  ),
  422: failure(
    'The content cannot be played; the message names the problem.',
    'The lesson cannot be exported: Section 2 ("Tides") has no steps',
  ),
  500: failure('A server does not respond.'),
} as const;

interface ExportRequest {
  ctx: EndpointContext;
  caller: { organization: Organization };
  params: z.output<typeof params>;
  query: z.output<typeof query>;
}

/** An authorized request. */
export interface AuthorizedExport {
  version: LessonVersion;
  /** Builds the archive; both have the same key. */
  job: ExportJob;
}

/**
 * Authorizes a request for an export: checks the plan, then existence, then content. All export endpoints call it, so
 * that none reveals more than another.
 *
 * @throws {LecternError} FEATURE_NOT_AVAILABLE, NOT_FOUND or INVALID_CONTENT.
 */
export async function authorizeExport(
  { db, player, config }: Pick<ExportDependencies, 'db' | 'player' | 'config'>,
  { ctx, caller: { organization }, params: { lessonId, versionId }, query }: ExportRequest,
): Promise<AuthorizedExport> {
  if (organization.plan !== 'edtech') throw new LecternError('FEATURE_NOT_AVAILABLE', planFault);
  const [version, theme] = await Promise.all([
    findPublishedVersion(db, organization._id, lessonId, versionId),
    findLessonTheme(db, { organizationId: organization._id, lessonId }),
  ]);
  if (version === null) throw new LecternError('NOT_FOUND', notFound);
  if (version.problems.length > 0) {
    const message = `The lesson cannot be exported: ${version.problems.join('; ')}`;
    throw new LecternError('INVALID_CONTENT', message);
  }
  const profile = await selectProfile(query, {
    playerName: () => player.name,
    publicUrl: () => publicUrlOf(ctx, config),
  });
  return { version, job: exportJobOf(version, profile, theme) };
}
