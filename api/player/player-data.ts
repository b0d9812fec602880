import type { Context } from 'koa';
import { z } from 'zod';
import { playerLessonOpening } from '../../shared/lessons/player-lesson.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { LessonFacts } from '../../shared/player/prepare-lesson.ts';
import type { PreparedLessons } from '../../shared/player/prepared-lessons.ts';
import { sendTexts } from '../http/send-texts.ts';

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

export interface PlayerDataDependencies {
  lessons: Pick<PreparedLessons, 'lesson'>;
}

/**
 * Sends player data (docs/player-api.md). It never parses the lesson, which may be large.
 *
 * @param userAttributes a JSON object, as text.
 */
export async function sendPlayerData(
  { lessons }: PlayerDataDependencies,
  ctx: Context,
  { _id: versionId, status }: Pick<LessonVersion, '_id' | 'status'>,
  {
    facts,
    userAttributes,
    options,
  }: { facts: LessonFacts; userAttributes: string; options: PlayerDataOptions },
): Promise<void> {
  const lesson = await lessons.lesson(versionId);
  if (lesson === undefined) throw new Error(`version ${versionId} has no content`);
  const { title, totalSections, totalSteps, estimatedDuration, playabilityErrors: errors } = facts;
  const metadata = { title, status, totalSections, totalSteps, estimatedDuration };
  const rest = [
    `"userAttributes":${userAttributes}`,
    ...(options.include_metadata ? [`"metadata":${JSON.stringify(metadata)}`] : []),
    ...(options.validate_playability
      ? [`"playability":${JSON.stringify({ valid: errors.length === 0, errors })}`]
      : []),
  ];
  ctx.type = 'application/json';
  const opening = Buffer.from(`{"lesson":${playerLessonOpening(status)}`);
  await sendTexts(ctx, [opening, lesson, Buffer.from(`,${rest.join(',')}}`)]);
}
