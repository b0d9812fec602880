import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { z } from 'zod';
import { withStatus } from '../../shared/lessons/player-lesson.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { PreparedLesson } from '../../shared/player/prepared-lessons.ts';

/** A query parameter that is true or false, in these words. */
const flag = (name: string, fallback: boolean, description: string) =>
  z
    .enum(['true', 'false'], `${name} must be true or false`)
    .default(`${fallback}`)
    .transform((text) => text === 'true')
    .meta({ description, override: { type: 'boolean', enum: undefined, default: fallback } });

/** What may be asked for besides the lesson. */
export const playerDataOptions = {
  include_metadata: flag('include_metadata', false, 'Include `metadata`.'),
  validate_playability: flag(
    'validate_playability',
    true,
    'Check that the lesson can be played, and include `playability`.',
  ),
};

export type PlayerDataOptions = z.output<z.ZodObject<typeof playerDataOptions>>;

/** Up to here one piece is sent faster than several; and what slow readers leave waits with the system, not here. */
const mostCopiedBytes = 1024 ** 2;

/**
 * Answers with player data (the contract's 2.4). The lesson, which may be large, is never parsed, and a large one is
 * not copied either: all who read it at once, however slowly, share its bytes.
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
  ctx.body = bytes > mostCopiedBytes ? Readable.from(pieces, { objectMode: false }) : Buffer.concat(pieces);
  ctx.length = bytes;
}

/** The body as JSON in UTF-8. */
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
