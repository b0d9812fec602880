import { messageOf } from '../../shared/platform/errors.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { publicUrlOf } from '../installation/urls.ts';
import type { CommandContext } from '../installation/context.ts';
import { note } from '../terminal/output.ts';

/** A link that plays a lesson. */
export interface PlayLink {
  /** Null if the URL of the API is unknown: see {@link publicUrlOf}. */
  url: string | null;
  expiresAt: Date;
}

/** Returns the URL of the page that plays a lesson with a token; null as in {@link PlayLink}. */
export async function playUrl(
  config: CommandContext['config'],
  lessonId: string,
  token: string,
): Promise<string | null> {
  const url = await publicUrlOf(config);
  return url === null ? null : `${url}/embed/${lessonId}?token=${token}`;
}

/**
 * Makes a link that previews a version for an hour and records nothing.
 *
 * @throws {LecternError} INVALID_CONTENT for a version that was unpublished or cannot be played yet; INTERNAL_ERROR if
 *   tokens are turned off
 */
export async function previewLink(
  { config, db, store, secrets }: CommandContext,
  version: LessonVersion,
): Promise<PlayLink> {
  const { signing } = await secrets();
  const { signPreview } = await import('../../shared/publishing/publishing.ts');
  const { token, expiresAt } = await signPreview({ db, store, signing }, version);
  return { url: await playUrl(config, version.lessonId, token), expiresAt };
}

/**
 * Makes a link as {@link previewLink} does, without failing the publication. Returns null for a version that was
 * published by force although it cannot be played; otherwise prints the reason to stderr and returns null.
 */
export async function previewOfPublished(
  context: CommandContext,
  version: LessonVersion,
): Promise<PlayLink | null> {
  if (version.problems.length > 0) return null;
  try {
    return await previewLink(context, version);
  } catch (error) {
    note(`No preview link: ${messageOf(error)}`);
    return null;
  }
}

/** Returns the lines that explain and contain a preview link; none for null. */
export function describePreview(link: PlayLink | null): string[] {
  if (link === null) return [];
  const { url, expiresAt } = link;
  const what = `Preview, until ${expiresAt.toISOString()}; nothing is recorded:`;
  return url === null ? [noLinkMessage] : [what, `  ${url}`];
}

export const noLinkMessage =
  'No link: with PORT=0 the URL of the API is known only while it runs. Start it, or set PUBLIC_URL.';
