import { messageOf } from '../../shared/platform/errors.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { preparePreview } from '../../shared/publishing/publishing.ts';
import { publicUrlOf } from '../installation/urls.ts';
import type { CommandContext } from '../installation/context.ts';
import { note } from '../terminal/output.ts';

/** A link that plays a lesson. */
export interface PlayLink {
  /** Null where the URL of the API is not known: see {@link publicUrlOf}. */
  url: string | null;
  expiresAt: Date;
}

/** The URL of the page that plays a lesson with a token; null as in {@link PlayLink}. */
export async function playUrl(
  config: CommandContext['config'],
  lessonId: string,
  token: string,
): Promise<string | null> {
  const address = await publicUrlOf(config);
  return address === null ? null : `${address}/embed/${lessonId}?token=${token}`;
}

/**
 * Makes a preview link of a version: it plays that version for an hour, and records nothing.
 *
 * @throws {LecternError} INVALID_CONTENT for a version that is withdrawn or cannot be played yet; INTERNAL_ERROR where
 * tokens are turned off.
 */
export async function previewLink(
  { config, db, store, secrets }: CommandContext,
  { _id: versionId, lessonId, organizationId }: LessonVersion,
): Promise<PlayLink> {
  await preparePreview(db, store, versionId);
  const { signing } = await secrets();
  const { signPreviewToken } = await import('../../shared/tokens/player-tokens.ts');
  const { token, expiresAt } = signPreviewToken(signing, { organizationId, lessonId, versionId });
  return { url: await playUrl(config, lessonId, token), expiresAt };
}

/**
 * As {@link previewLink}, but publishing never fails for it: null for a version that was forced although it cannot be
 * played, and with the reason on stderr in any other case.
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

/** A preview link for people, with what it is; nothing where there is none. */
export function describePreview(link: PlayLink | null): string[] {
  if (link === null) return [];
  const { url, expiresAt } = link;
  const what = `Preview, until ${expiresAt.toISOString()}; nothing is recorded:`;
  return url === null ? [noAddress] : [what, `  ${url}`];
}

/** Said where a link cannot be printed. */
export const noAddress =
  'No link: with PORT=0 the URL of the API is known only while it runs. Start it, or set PUBLIC_URL.';
