import type { Node } from 'prosemirror-model';
import { withParagraphs } from '../../../../shared/lessons/plain-paragraphs.ts';
import type { ParseHtml } from './html-tree.ts';
import { meaningOf } from './meaning.ts';
import { readDocument } from './read-html.ts';
import { writeDocument } from './write-html.ts';

/** Longer texts open as source: the editor would become slow. */
const maxCharacters = 200_000;

/**
 * Opens the HTML of a field for editing as text.
 *
 * @returns null if the text would lose anything when it is written again: it can be edited as source only
 */
export function openHtml(source: string, parse: ParseHtml): Node | null {
  if (source.length > maxCharacters) return null;
  const tree = parse(withParagraphs(source));
  try {
    const doc = readDocument(tree);
    doc.check();
    return meaningOf(parse(writeDocument(doc))) === meaningOf(tree) ? doc : null;
  } catch (error) {
    // Too deep, or not what the schema allows.
    if (error instanceof RangeError) return null;
    throw error;
  }
}
