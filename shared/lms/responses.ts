/*
 * Learners' answers in the encodings of SCORM 1.2 (CMIFeedback) and of SCORM 2004, which xAPI and cmi5 share. Choices
 * have the positions of their question as ids, because platforms reject longer ids, hyphens and blanks.
 */

/** An answer without its encoding. Numbers are positions, from zero. */
export type Response =
  | { type: 'choice'; picked: readonly number[] }
  | { type: 'true-false'; value: boolean }
  | { type: 'fill-in'; parts: readonly string[] }
  | { type: 'long-fill-in'; text: string }
  | { type: 'sequencing'; order: readonly number[] }
  | { type: 'matching'; pairs: readonly (readonly [source: number, target: number])[] }
  | { type: 'numeric'; value: number }
  | { type: 'other'; text: string };

/** A right answer; a number may have a range. */
export type CorrectResponse =
  | Exclude<Response, { type: 'numeric' }>
  | { type: 'numeric'; min: number; max: number };

export type InteractionType = Response['type'];

const ids = 'abcdefghijklmnopqrstuvwxyz0123456789';
/** The lengths that SCORM 2004 guarantees. */
const max2004 = { choices: ids.length, parts: 10, partCharacters: 250, textCharacters: 4000 };
const max12Characters = 255;

/** Returns the type of an interaction in SCORM 1.2, which has fewer. */
export function scorm12Type(type: InteractionType): string {
  if (type === 'long-fill-in') return 'fill-in';
  return type === 'other' ? 'performance' : type;
}

/** Returns an answer for SCORM 1.2; undefined for one that it cannot express. */
export function scorm12Response(response: Response | CorrectResponse): string | undefined {
  const text = scorm12Text(response);
  return text === undefined || text === '' || text.length > max12Characters ? undefined : text;
}

function scorm12Text(response: Response | CorrectResponse): string | undefined {
  switch (response.type) {
    case 'choice':
      return idsOf([...new Set(response.picked)])?.join(',');
    case 'sequencing':
      return idsOf(response.order)?.join(',');
    case 'matching':
      return response.pairs.every((pair) => idsOf(pair) !== undefined)
        ? response.pairs.map((pair) => idsOf(pair)?.join('.')).join(',')
        : undefined;
    case 'true-false':
      return response.value ? 't' : 'f';
    case 'numeric':
      return 'value' in response || response.min === response.max
        ? decimal('value' in response ? response.value : response.min)
        : undefined;
    case 'fill-in':
      return shortText(oneLine(response.parts.join(', ')), max12Characters);
    case 'long-fill-in':
      return shortText(oneLine(response.text), max12Characters);
    case 'other':
      return undefined;
  }
}

/** Returns an answer for SCORM 2004, xAPI and cmi5; undefined for one that they cannot express. */
export function scorm2004Response(response: Response | CorrectResponse): string | undefined {
  switch (response.type) {
    case 'choice':
      return idsOf([...new Set(response.picked)])?.join('[,]');
    case 'sequencing':
      return idsOf(response.order)?.join('[,]');
    case 'matching':
      if (response.pairs.some((pair) => idsOf(pair) === undefined)) return undefined;
      return response.pairs.map((pair) => idsOf(pair)?.join('[.]')).join('[,]');
    case 'true-false':
      return String(response.value);
    case 'numeric': {
      if ('value' in response) return decimal(response.value);
      const [min, max] = [decimal(response.min), decimal(response.max)];
      return min === undefined || max === undefined ? undefined : `${min}[:]${max}`;
    }
    case 'fill-in':
      return response.parts
        .slice(0, max2004.parts)
        .map((part) => shortText(withoutMarkers(oneLine(part)), max2004.partCharacters))
        .join('[,]');
    case 'long-fill-in':
    case 'other':
      return shortText(withoutMarkers(response.text), max2004.textCharacters);
  }
}

/** Returns the right answer as a pattern for SCORM 2004, xAPI and cmi5. Blanks ignore case, and their order counts. */
export function scorm2004Pattern(correct: CorrectResponse): string | undefined {
  const text = scorm2004Response(correct);
  return correct.type === 'fill-in' ? `{case_matters=false}{order_matters=true}${text}` : text;
}

/** Returns the id of a choice, source or target; undefined beyond the 36th. */
export function choiceId(position: number): string | undefined {
  return ids[position];
}

/** Returns a number as decimal text without an exponent; undefined if SCORM cannot express it. */
export function decimal(value: number, digits = 7): string | undefined {
  if (!Number.isFinite(value) || Math.abs(value) >= 100_000) return undefined;
  return String(Number(value.toFixed(digits)) + 0).includes('e')
    ? '0'
    : String(Number(value.toFixed(digits)) + 0);
}

/** Returns the ids of positions; undefined if one has none. */
function idsOf(positions: readonly number[]): string[] | undefined {
  const found = positions.map((position) => ids[position]);
  return found.every((id) => id !== undefined) ? found : undefined;
}

/**
 * Returns the first characters of a text, without those that XML forbids, and never half a surrogate pair: platforms
 * that URL-encode values throw on it, and store nothing.
 */
export function shortText(text: string, maxCharacters: number): string {
  // oxlint-disable-next-line no-control-regex -- XML forbids them
  const plain = text.replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '');
  return plain.slice(0, maxCharacters).replaceAll(/\p{Surrogate}/gu, '');
}

/** Returns text without line breaks and control characters. */
function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- SCORM allows none of them in these values
  return text.replaceAll(/[\u0000-\u001f\u007f\s]+/g, ' ').trim();
}

/** Returns text without delimiters and attributes such as `{lang=en}`, which platforms would interpret. */
function withoutMarkers(text: string): string {
  const plain = text.replaceAll('[,]', '[ , ]').replaceAll('[.]', '[ . ]').replaceAll('[:]', '[ : ]');
  return plain.startsWith('{') ? ` ${plain}` : plain;
}
