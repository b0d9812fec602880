import type { Block, BlockProps, LessonContent } from './lesson-content.ts';
import { quote } from './json-values.ts';

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

/** What a block of a custom widget can earn at most; what a browser claims never counts for more. */
const maxDeclaredPoints = 1000;

/**
 * Returns the points that an author declared for a block of a custom widget: its prop `points`, a number from 0 to
 * 1000. Null for a block that is not scored: it declares none, 0, or something else.
 */
export function declaredPoints(props: Record<string, unknown>): number | null {
  const { points } = props;
  return isPoints(points) && points > 0 ? points : null;
}

/** Says what is wrong with the points that a block of a custom widget declares; undefined when nothing is. */
export function pointsFault(props: Record<string, unknown>): string | undefined {
  const { points } = props;
  if (points === undefined || isPoints(points)) return undefined;
  const given = typeof points === 'string' ? quote(points) : JSON.stringify(points);
  return `points must be a number from 0 to ${maxDeclaredPoints}, not ${given}; the block is not scored`;
}

function isPoints(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= maxDeclaredPoints;
}
