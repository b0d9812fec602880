import { z } from 'zod';
import type { ExportJob } from '../../shared/exports/jobs.ts';
import { queryOf } from '../../shared/exports/profiles.ts';
import type { StoredArchive } from '../../shared/storage/store.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { EndpointContext } from '../http/endpoint.ts';
import { noStore, retryAfter } from '../http/headers.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { failure, json } from '../http/responses.ts';
import { requestArchive, requestArchiveAsync } from './archive-requests.ts';
import type { ArchiveRequestDependencies } from './archive-requests.ts';
import { exportRefusals } from './authorize.ts';
import { exportStatusBody } from './bodies.ts';
import * as example from './examples.ts';
import { readExportStatus } from './export-status.ts';

export const preference = z.strictObject({
  Prefer: z
    .string()
    .optional()
    .meta({
      description: '`respond-async` returns 202 instead of waiting for a build (RFC 7240).',
      examples: ['respond-async'],
    }),
});

/** The 202 of {@link archiveOrAccepted}: the status of the same version, in the same profile. */
export const accepted = json(
  'With `Prefer: respond-async`: there is no archive yet. Its build has begun; `Location` is the URL of its status.',
  exportStatusBody,
  { queued: { summary: 'It waits in the queue', value: example.queued } },
  {
    ...noStore,
    ...retryAfter,
    Location: z.string().meta({
      description: 'The URL of the export’s status.',
      examples: ['https://lessons.example/api/lessons/b2c3…/versions/45ef…/export-status'],
    }),
    'Preference-Applied': z
      .literal('respond-async')
      .meta({ description: 'The preference that was applied.' }),
  },
);

/** The failures of {@link archiveOrAccepted}, and of authorization before it. */
export const buildRefusals = {
  ...exportRefusals,
  422: failure(
    'The content cannot be played, or the archive would be too large; the message names the problem.',
    ...exportRefusals[422].texts,
    'The archive would be larger than the limit of 8589934592 bytes.',
  ),
  500: failure(
    'The build failed, is not ready in time, or a server does not respond.',
    'The archive is not ready in time: no worker is running. The export stays in the queue.',
  ),
};

/** The `Retry-After` of the 202: when clients should read the status. */
const statusRetrySeconds = 2;

/**
 * Returns the requested archive, after waiting for its build if necessary. With `Prefer: respond-async` (RFC 7240), a
 * request that would have to wait gets 202 instead, and this returns null.
 *
 * @throws {LecternError} as `requestArchive`.
 */
export async function archiveOrAccepted(
  ctx: EndpointContext,
  deps: { config: Pick<Config, 'publicUrl'>; exports: ArchiveRequestDependencies },
  job: ExportJob,
): Promise<StoredArchive | null> {
  if (!prefersAsync(ctx.get('Prefer'))) return requestArchive(deps.exports, job, ctx.state.signal);
  const archive = await requestArchiveAsync(deps.exports, job);
  if (archive !== null) return archive;
  ctx.status = 202;
  ctx.set('Location', statusUrl(ctx, deps, job));
  ctx.set('Preference-Applied', 'respond-async');
  ctx.set('Retry-After', String(statusRetrySeconds));
  ctx.set('Cache-Control', 'no-store');
  ctx.body = await readExportStatus(deps.exports, job);
  return null;
}

function prefersAsync(header: string): boolean {
  return header.split(',').some((preference) => /^\s*respond-async\s*(;|$)/i.test(preference));
}

/** Returns the status URL of the same version, in the same profile. */
function statusUrl(
  ctx: EndpointContext,
  { config }: { config: Pick<Config, 'publicUrl'> },
  job: ExportJob,
): string {
  const { lessonId, versionId } = job;
  const url = `${publicUrlOf(ctx, config)}/api/lessons/${lessonId}/versions/${versionId}/export-status`;
  const query = queryOf(job).toString();
  return query === '' ? url : `${url}?${query}`;
}
