import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { z } from 'zod';
import { withStatus } from '../../shared/lessons/player-lesson.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { PreparedLesson } from '../../shared/player/prepared-lessons.ts';

/** A query parameter that is "true" or "false". */
const flag = (name: string, fallback: boolean, description: string) =>
  z
    .enum(['true', 'false'], `${name} must be true or false`)
    .default(`${fallback}`)
    .transform((text) => text === 'true')
    .meta({ description, override: { type: 'boolean', enum: undefined, default: fallback } });

/** The query parameters for parts of the response beside the lesson. */
export const playerDataOptions = {
  include_metadata: flag('include_metadata', false, 'Include `metadata`.'),
  validate_playability: flag(
    'validate_playability',
    true,
    'Check that the lesson can be played, and include `playability`.',
  ),
};

export type PlayerDataOptions = z.output<z.ZodObject<typeof playerDataOptions>>;

/** Up to this size, one buffer is sent faster than several, and the system's buffers hold it for slow readers. */
const maxCopiedBytes = 1024 ** 2;

/**
 * Sends player data (docs/player-api.md). It never parses the lesson, which may be large, and does not copy large
 * lessons: concurrent readers share the bytes, however slow they are.
 *
 * @param userAttributes a JSON object, as text.
 */
export function sendPlayerData(
  ctx: Context,
  version: Pick<LessonVersion, 'status'>,
  prepared: PreparedLesson,
  { userAttributes, options }: { userAttributes: string; options: PlayerDataOptions },
): void {
  const pieces = piecesOf(version, prepared, userAttributes, options);
  const bytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0);
  ctx.type = 'application/json';
  ctx.body = bytes > maxCopiedBytes ? Readable.from(pieces, { objectMode: false }) : Buffer.concat(pieces);
  ctx.length = bytes;
}

/** Returns the body as JSON in UTF-8, in pieces. */
function piecesOf(
  { status }: Pick<LessonVersion, 'status'>,
  { lesson, facts }: PreparedLesson,
  userAttributes: string,
  options: PlayerDataOptions,
): Buffer[] {
  const { title, totalSections, totalSteps, estimatedDuration, playabilityErrors: errors } = facts;
  const metadata = { title, status, totalSections, totalSteps, estimatedDuration };
  const rest = [
    `"userAttributes":${userAttributes}`,
    ...(options.include_metadata ? [`"metadata":${JSON.stringify(metadata)}`] : []),
    ...(options.validate_playability
      ? [`"playability":${JSON.stringify({ valid: errors.length === 0, errors })}`]
      : []),
  ];
  return [Buffer.from('{"lesson":'), ...withStatus(lesson, status), Buffer.from(`,${rest.join(',')}}`)];
}
