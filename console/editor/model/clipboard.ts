import { isBlock } from './blocks.ts';
import type { Block } from './blocks.ts';

/* Blocks in the clipboard are JSON text with a marker, so that they can be pasted into other lessons. */

const storageKey = 'lectern-editor-clipboard';

/** Returns the text for the clipboard, and keeps it for {@link lastCopied}. */
export function clipboardText(blocks: readonly Block[]): string {
  const text = JSON.stringify({ lectern: 'blocks', blocks });
  try {
    localStorage.setItem(storageKey, text);
  } catch {
    // It is full, or not allowed: keys still paste.
  }
  return text;
}

/** Returns the blocks in a text of the clipboard; none for any other text. */
export function blocksIn(text: string): Block[] {
  try {
    const { lectern, blocks } = JSON.parse(text) as { lectern?: unknown; blocks?: unknown };
    return lectern === 'blocks' && Array.isArray(blocks) ? blocks.filter(isBlock) : [];
  } catch {
    return [];
  }
}

/** Returns what was copied last in this browser, also in another lesson: menus may not read the clipboard. */
export function lastCopied(): Block[] {
  try {
    return blocksIn(localStorage.getItem(storageKey) ?? '');
  } catch {
    return [];
  }
}
