import type { Context } from 'koa';
import { playerOf } from '../../shared/exports/jobs.ts';
import type { ExportJob } from '../../shared/exports/jobs.ts';
import type { StoredArchive } from '../../shared/storage/store.ts';
import type { AppDependencies } from '../dependencies.ts';
import { publicAddress } from '../http/public-url.ts';
import { beginArchive, requestArchive } from './archive-requests.ts';
import { readExportStatus } from './export-status.ts';

/** What a client is told to wait before it looks how far a build is, in seconds. */
const lookAgainSeconds = 2;

/**
 * The archive that a request needs, which waits until it is there. One that would rather come back (`Prefer:
 * respond-async`, RFC 7240) is answered with 202 where it would have to wait, and null is given.
 *
 * @throws {LecternError} as `requestArchive`.
 */
export async function archiveOrAccepted(
  ctx: Context,
  deps: Pick<AppDependencies, 'config' | 'exports'>,
  job: ExportJob,
): Promise<StoredArchive | null> {
  if (!prefersAsync(ctx.get('Prefer'))) {
    return requestArchive(deps.exports, job, ctx.state.signal as AbortSignal);
  }
  const archive = await beginArchive(deps.exports, job);
  if (archive !== null) return archive;
  ctx.status = 202;
  ctx.set('Location', statusAddress(ctx, deps, job));
  ctx.set('Preference-Applied', 'respond-async');
  ctx.set('Retry-After', String(lookAgainSeconds));
  ctx.set('Cache-Control', 'no-store');
  ctx.body = await readExportStatus(deps.exports, job);
  return null;
}

function prefersAsync(header: string): boolean {
  return header.split(',').some((preference) => /^\s*respond-async\s*(;|$)/i.test(preference));
}

/** That of the same version, in the same profile. */
function statusAddress(
  ctx: Context,
  { config }: Pick<AppDependencies, 'config'>,
  { profile, lessonId, versionId }: ExportJob,
): string {
  const address = `${publicAddress(ctx, config)}/api/lessons/${lessonId}/versions/${versionId}/export-status`;
  return playerOf(profile) === null ? address : `${address}?include=player`;
}
