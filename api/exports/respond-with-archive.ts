import type { Context } from 'koa';
import type { ExportJob } from '../../shared/exports/jobs.ts';
import { profileOf } from '../../shared/exports/profiles.ts';
import type { StoredArchive } from '../../shared/storage/store.ts';
import type { Config } from '../../shared/platform/config.ts';
import { z } from 'zod';
import { noStore, retryAfter } from '../http/headers.ts';
import { failure, json } from '../http/responses.ts';
import { exportRefusals } from './authorize.ts';
import { exportStatusBody } from './bodies.ts';
import * as example from './examples.ts';
import type { ArchiveRequestDependencies } from './archive-requests.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { beginArchive, requestArchive } from './archive-requests.ts';
import { readExportStatus } from './export-status.ts';

export const preference = z.strictObject({
  Prefer: z
    .string()
    .optional()
    .meta({
      description: '`respond-async`: answer with 202 instead of waiting for a build (RFC 7240).',
      examples: ['respond-async'],
    }),
});

/** The 202 of {@link archiveOrAccepted}: the status of the same version, in the same profile. */
export const accepted = json(
  'With `Prefer: respond-async`: there is no archive yet. It is built now; `Location` says how far it is.',
  exportStatusBody,
  { queued: { summary: 'It waits its turn', value: example.queued } },
  {
    ...noStore,
    ...retryAfter,
    Location: z.string().meta({
      description: 'The address of the export’s status.',
      examples: ['https://lessons.example/api/lessons/b2c3…/versions/45ef…/export-status'],
    }),
    'Preference-Applied': z.literal('respond-async').meta({ description: 'What was heeded.' }),
  },
);

/** The failures of {@link archiveOrAccepted}, and of what comes before it. */
export const buildRefusals = {
  ...exportRefusals,
  422: failure(
    'The content cannot be played, or the archive would be too large; the message says what.',
    ...exportRefusals[422].texts,
    'The archive would be larger than the limit of 8589934592 bytes.',
  ),
  500: failure(
    'The build failed, is not ready in time, or a server does not answer.',
    'The archive is not ready in time: no worker is running. The export stays in the queue.',
  ),
};

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
  deps: { config: Pick<Config, 'publicUrl'>; exports: ArchiveRequestDependencies },
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

/** Returns the URL of the status of the same version, in the same profile. */
function statusAddress(
  ctx: Context,
  { config }: { config: Pick<Config, 'publicUrl'> },
  job: ExportJob,
): string {
  const { lessonId, versionId } = job;
  const url = `${publicUrlOf(ctx, config)}/api/lessons/${lessonId}/versions/${versionId}/export-status`;
  const query = new URLSearchParams(Object.entries(profileOf(job).query)).toString();
  return query === '' ? url : `${url}?${query}`;
}
