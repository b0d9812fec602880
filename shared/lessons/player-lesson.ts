import type { LessonContent, Section, Step } from './lesson-content.ts';
import { orderedSections, totalsOf } from './totals.ts';

/**
 * A lesson as a player gets it (the contract's 2.4): sections and steps in the order they are played in, media
 * references as `media:<uuid>`, and none of the further fields that lesson.json may hold. The status is that of the
 * version, not of its content, and is given by {@link withStatus}.
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
  // Blocks of older content stand in zones; without them the step could not be played.
  return { id, title, order_index, content: { content: blocks, root, ...(zones && { zones }) } };
}

/**
 * Gives a player lesson, as JSON, its status: without parsing it, for it may be large.
 *
 * @param json what JSON.stringify makes of {@link playerLesson}.
 * @returns pieces of the text, in their order.
 */
export function withStatus(json: Buffer, status: string): Buffer[] {
  const opening = '{"lesson":{';
  return [Buffer.from(`${opening}"status":${JSON.stringify(status)},`), json.subarray(opening.length)];
}
