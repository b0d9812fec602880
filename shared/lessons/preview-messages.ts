/* Messages between the editor and the frame of its preview. */

/** Ids, path and sizes in CSS pixels: from the top left of the frame. */
export type Rectangle = readonly [x: number, y: number, width: number, height: number];

/** How the lesson looks, and where its files are. */
export interface Look {
  /** A BCP 47 tag. */
  language: string;
  direction: 'ltr' | 'rtl';
  /** Undefined for that of the device. */
  scheme: 'light' | 'dark' | undefined;
  /** The stylesheet of the organization's theme. */
  theme: string | undefined;
  /** Absolute URL of the folder with media and widgets. */
  content: string;
  /** Default props by widget type, of the lesson's settings. */
  overrides: Record<string, unknown>;
  /** Core types for which the lesson has its own widgets. */
  ownTypes: readonly string[];
}

/** Messages to the frame. The first one brings its port. */
export type ToEditFrame =
  | ({ type: 'look' } & Look)
  /** The blocks of a step; only those that differ from before are mounted again. */
  | { type: 'step'; revision: number; content: unknown }
  /** Opens the panels and tabs around a block. */
  | { type: 'reveal'; blockId: string }
  /** Opens the panel or tab whose title is at a point. */
  | { type: 'open'; x: number; y: number }
  /** Plays a lesson from a step, until the next `step` message. */
  | { type: 'play'; lesson: unknown; stepId: string };

/** Messages of the frame. */
export type FromEditFrame =
  /** Where the blocks are. Blocks that are not visible are missing. */
  | {
      type: 'layout';
      /** That of the last `step` message. */
      revision: number;
      /** The width of the frame that this is the layout of. */
      width: number;
      blocks: ReadonlyMap<string, Rectangle>;
      emptyLists: readonly EmptyList[];
    }
  | { type: 'height'; height: number };

/** A list of blocks inside a block, without blocks. */
export interface EmptyList {
  blockId: string;
  /** The path of the list in the props of the block: names and indices. */
  path: readonly string[];
  rectangle: Rectangle;
}

const maxPixels = 500_000;
const maxEntries = 10_000;
const maxIdChars = 255;
const maxPathNames = 10;

/**
 * Reads a message of the frame; undefined if it is none. Widgets run inside the frame, and even if one takes it over, it
 * can only move rectangles.
 */
export function readFromEditFrame(data: unknown): FromEditFrame | undefined {
  if (typeof data !== 'object' || data === null) return undefined;
  const { type, revision, width, height, blocks, emptyLists } = data as Record<string, unknown>;
  if (type === 'height') return isPixels(height) ? { type, height: Math.ceil(height) } : undefined;
  if (type !== 'layout' || typeof revision !== 'number' || !isPixels(width)) return undefined;
  return {
    ...{ type, revision, width },
    blocks: new Map(
      entries(blocks).flatMap((entry): [string, Rectangle][] => {
        const [id, rectangle] = Array.isArray(entry) ? (entry as unknown[]) : [];
        return isId(id) && isRectangle(rectangle) ? [[id, copyOf(rectangle)]] : [];
      }),
    ),
    emptyLists: entries(emptyLists).flatMap((entry) => {
      const { blockId, path, rectangle } = (entry ?? {}) as Record<string, unknown>;
      if (!isId(blockId) || !isPath(path) || !isRectangle(rectangle)) return [];
      return [{ blockId, path: [...path], rectangle: copyOf(rectangle) }];
    }),
  };
}

/** Returns the elements of a list or a map, up to {@link maxEntries}. */
function entries(value: unknown): unknown[] {
  if (value instanceof Map) return [...value].slice(0, maxEntries);
  return Array.isArray(value) ? value.slice(0, maxEntries) : [];
}

function isPixels(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= maxPixels;
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= maxIdChars;
}

function isPath(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= maxPathNames && value.every(isId);
}

function isRectangle(value: unknown): value is [number, number, number, number] {
  if (!Array.isArray(value) || value.length !== 4) return false;
  const [x, y, ...size] = value as unknown[];
  const isPlace = (at: unknown) => typeof at === 'number' && Math.abs(at) <= maxPixels;
  return isPlace(x) && isPlace(y) && size.every(isPixels);
}

function copyOf([x, y, width, height]: Rectangle): Rectangle {
  return [x, y, width, height];
}
