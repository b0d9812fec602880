import type { Block, BlockProps, LessonContent } from './lesson-content.ts';

/**
 * The props that a block is played with: its own, over the lesson's settings for its widget type
 * (`lesson.widget_settings.overrides`), which are defaults. Only whole props are taken over, not parts of them; the
 * id is always the block's own.
 *
 * @param overrides settings by widget type, unchecked
 */
export function playedProps(
  { type, props }: Block,
  overrides: LessonContent['lesson']['widget_settings']['overrides'],
): BlockProps {
  const defaults = type !== undefined && Object.hasOwn(overrides, type) ? overrides[type] : undefined;
  if (typeof defaults !== 'object' || defaults === null || Array.isArray(defaults)) return props;
  return { ...defaults, ...props };
}
