import { diffWords } from 'diff';
import { withoutTags } from '../../../shared/lessons/blocks.ts';
import { formatLocale } from '../../shell/text.ts';

/** A piece of a text: in both versions, or in one of them. */
export interface Piece {
  text: string;
  kind: 'same' | 'added' | 'removed';
}

/** The time that the comparison of two texts may take; a hostile text could take minutes. */
const timeoutMs = 200;

/** Unchanged characters that are shown before and after a change. */
const contextCharacters = 80;

/** Compares two texts word by word. If only their markup differs, the pieces contain it. */
export function comparedWords(before: string, after: string): Piece[] {
  const [one, other] = [readable(before), readable(after)];
  const texts = one === other ? ([before, after] as const) : ([one, other] as const);
  const intlSegmenter = new Intl.Segmenter(formatLocale(), { granularity: 'word' });
  const found = diffWords(...texts, { intlSegmenter, timeout: timeoutMs }) ?? [
    { value: texts[0], removed: true, added: false },
    { value: texts[1], removed: false, added: true },
  ];
  return found.map(({ value, added, removed }, index) => ({
    text: added || removed ? value : shortened(value, index === 0, index === found.length - 1),
    kind: added ? 'added' : removed ? 'removed' : 'same',
  }));
}

/** Returns a text without its markup. */
export function readable(html: string): string {
  const field = document.createElement('textarea');
  // Reads entities; elements in it would be text.
  field.innerHTML = withoutTags(html).replaceAll('<', '&lt;');
  return field.value.replaceAll(/\s+/g, ' ').trim();
}

/** Returns the parts of an unchanged text that are next to changes. */
function shortened(text: string, isFirst: boolean, isLast: boolean): string {
  if (text.length <= 2.5 * contextCharacters) return text;
  const start = isFirst ? '' : wholeWords(text.slice(0, contextCharacters), /\s\S*$/);
  const end = isLast ? '' : wholeWords(text.slice(-contextCharacters), /^\S*\s/);
  return `${start} … ${end}`;
}

function wholeWords(text: string, rest: RegExp): string {
  return text.replace(rest, '');
}
