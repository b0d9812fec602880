import type { RouterContext } from '@koa/router';
import { z } from 'zod';
import { LecternError } from '../../shared/platform/errors.ts';
import { exportJobOf, withPlayer } from '../../shared/exports/jobs.ts';
import type { ExportJob } from '../../shared/exports/jobs.ts';
import { findPublishedVersion } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { parseRequest } from '../http/parse-request.ts';

const uuid = (name: string) =>
  z
    .guid(`Invalid ${name} ID`)
    .toLowerCase()
    .meta({ description: `Id of the ${name}.` });
export const exportPath = z.object({ lessonId: uuid('lesson'), versionId: uuid('version') });
export const exportQuery = z.object({
  include: z
    .literal('player', 'include must be "player", or be left out')
    .optional()
    .meta({
      description:
        '`player`: the archive also holds the player, and plays when its index.html is opened. Anything else is ' +
        'refused.',
    }),
});

/** What a request is for, once it may be had. */
export interface AuthorizedExport {
  version: LessonVersion;
  /** Builds the archive; its key is the archive's. */
  job: ExportJob;
}

/**
 * What a request of good credentials is for. All addresses of an export ask here, so none gives more than another:
 * path and query, then plan, then existence, then content.
 *
 * @throws {LecternError} BAD_REQUEST, FEATURE_NOT_AVAILABLE, NOT_FOUND or INVALID_CONTENT.
 */
export async function authorizeExport(
  { db, player }: Pick<AppDependencies, 'db' | 'player'>,
  ctx: Pick<RouterContext<RequestState>, 'params' | 'query' | 'state'>,
): Promise<AuthorizedExport> {
  const { lessonId, versionId } = parseRequest(exportPath, ctx.params, 'BAD_REQUEST');
  const { include } = parseRequest(exportQuery, ctx.query, 'BAD_REQUEST');
  const { organization } = ctx.state;
  if (organization.plan !== 'edtech') {
    throw new LecternError('FEATURE_NOT_AVAILABLE', 'Export is not available on your plan');
  }
  const version = await findPublishedVersion(db, organization._id, lessonId, versionId);
  if (version === null) throw new LecternError('NOT_FOUND', 'Published version not found');
  if (version.problems.length > 0) {
    throw new LecternError(
      'INVALID_CONTENT',
      `The lesson cannot be exported: ${version.problems.join('; ')}`,
    );
  }
  const profile = include === undefined ? 'plain' : withPlayer(player.name);
  return { version, job: exportJobOf(version, profile) };
}
