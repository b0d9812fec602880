import type { Block, BlockProps, LessonContent } from './lesson-content.ts';
import { isRecord, quote } from './json-values.ts';

/**
 * Returns the props that a block is played with. The lesson's settings for its widget type
 * (`lesson.widget_settings.overrides`) are defaults for whole props. The id is always the block's own.
 *
 * @param overrides settings by widget type, unchecked
 */
export function playedProps(
  { type, props }: Block,
  overrides: LessonContent['lesson']['widget_settings']['overrides'],
): BlockProps {
  const defaults = defaultsOf(type, overrides);
  return defaults === undefined ? props : { ...defaults, ...props };
}

/** Returns one of the {@link playedProps}, without a copy of all. */
export function playedProp(
  { type, props }: Block,
  overrides: LessonContent['lesson']['widget_settings']['overrides'],
  name: string,
): unknown {
  if (Object.hasOwn(props, name)) return props[name];
  const defaults = defaultsOf(type, overrides) ?? {};
  return Object.hasOwn(defaults, name) ? defaults[name] : undefined;
}

function defaultsOf(
  type: Block['type'],
  overrides: LessonContent['lesson']['widget_settings']['overrides'],
): Record<string, unknown> | undefined {
  const defaults = type !== undefined && Object.hasOwn(overrides, type) ? overrides[type] : undefined;
  return isRecord(defaults) ? defaults : undefined;
}

/** The maximum points for a block of a custom widget. A browser cannot claim more than the declared points. */
export const maxDeclaredPoints = 1000;

/**
 * Returns the points that an author declared for a block of a custom widget in its prop `points`, a number from 0 to
 * 1000. Null for a block that is not scored: the prop is missing, 0 or invalid.
 */
export function declaredPoints(props: Record<string, unknown>): number | null {
  const { points } = props;
  return isPoints(points) && points > 0 ? points : null;
}

/** Returns the fault of points that a block of a custom widget declares; undefined for valid points. */
export function pointsFault(props: Record<string, unknown>): string | undefined {
  const { points } = props;
  if (points === undefined || isPoints(points)) return undefined;
  const given = typeof points === 'string' ? quote(points) : JSON.stringify(points);
  return `points must be a number from 0 to ${maxDeclaredPoints}, not ${given}; the block is not scored`;
}

function isPoints(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= maxDeclaredPoints;
}
