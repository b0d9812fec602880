import type { LessonContent, Section, Step } from './lesson-content.ts';
import { orderedSections, totalsOf } from './totals.ts';

/**
 * Returns the lesson of player data (docs/player.md): sections and steps in playing order, media references as
 * `media:<uuid>`, and none of lesson.json's further fields. {@link withStatus} adds the status, which belongs to the
 * version and not to its content.
 */
export function playerLesson(content: LessonContent) {
  const { id, title, variable_definitions, widget_settings } = content.lesson;
  const { totalSections, totalSteps } = totalsOf(content);
  return {
    lesson: {
      id,
      title,
      variable_definitions: variable_definitions.map(({ name, type, initialValue = null }) => ({
        name,
        type,
        initialValue,
      })),
      widget_settings: { overrides: widget_settings.overrides },
    },
    sections: orderedSections(content).map(playerSection),
    totalSteps,
    totalSections,
  };
}

function playerSection({ id, title, order_index, steps }: Section) {
  return { id, title, order_index, steps: steps.map(playerStep) };
}

function playerStep({ id, title, order_index, content }: Step) {
  const { content: blocks, root, zones } = content;
  // Older content has blocks in zones.
  return { id, title, order_index, content: { content: blocks, root, ...(zones && { zones }) } };
}

/**
 * Adds the status to a player lesson without parsing its JSON, which may be large.
 *
 * @param json a {@link playerLesson} as JSON.stringify writes it
 * @returns the pieces of the text, in their order
 */
export function withStatus(json: Buffer, status: string): Buffer[] {
  const opening = '{"lesson":{';
  return [Buffer.from(`${opening}"status":${JSON.stringify(status)},`), json.subarray(opening.length)];
}
