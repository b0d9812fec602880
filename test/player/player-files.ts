import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { buildLearnerToken } from '../support/factories.ts';
import { ask } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';

type OfVersion = Pick<LessonVersion, '_id' | 'organizationId' | 'lessonId'>;

/** Returns the media URL for a player that plays this very version. */
export function mediumPath(version: OfVersion, mediaId: string): string {
  return playerPath(version, `media/${mediaId}`);
}

/**
 * Returns the URL of a widget's file, such as "Heading.js", for a player that plays this very
 * version.
 */
export function widgetPath(version: OfVersion, file: string): string {
  return playerPath(version, `widgets/${encodeURIComponent(file)}`);
}

function playerPath(version: OfVersion, path: string): string {
  const token = buildLearnerToken(version, { versionId: version._id });
  return `/api/public/lessons/${version.lessonId}/${path}?token=${token}`;
}

/** Sends a request and follows one redirect, as browsers do. */
export async function follow(api: string, path: string): Promise<Answer> {
  const answer = await ask(api + path);
  const location = answer.headers.get('location');
  return answer.status === 302 && location !== null ? ask(new URL(location, api).href) : answer;
}
