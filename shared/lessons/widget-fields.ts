/**
 * The definition of a widget's props, from which follow the forms of authors, the tables of docs/widgets.md, the JSON
 * Schema of lesson.json, and the warnings about unknown props.
 *
 * Texts are English. Their translations are in locales/fields/, by the English text: one text has one meaning.
 */
export interface Fields {
  readonly [name: string]: Field;
}

export type Field = FieldTexts & FieldValue;

export type FieldKind = Field['kind'];

interface FieldTexts {
  readonly label: string;
  /** What the label does not say. */
  readonly help?: string;
  /** What widgets use instead of a missing value. Switches are off unless they say so. */
  readonly default?: string | number | boolean;
  /** Where forms show it; by default first. */
  readonly group?: 'options' | 'scoring' | 'feedback';
  /** Whether the widget makes no sense without it; `ifScored`: unless `points` are 0. */
  readonly required?: boolean | 'ifScored';
  /** The required prop in whose place it may be. */
  readonly insteadOf?: string;
  /** Whether import writes it, so that forms have no input for it. */
  readonly isGenerated?: boolean;
}

export type FieldValue =
  /** A text without HTML. `hasFormulas`: TeX in it becomes a formula. `isId`: names a part; numbers count as texts. */
  | { readonly kind: 'text'; readonly hasFormulas?: boolean; readonly isId?: boolean }
  /** `allowsPercentage`: may also be a text such as `5%`. */
  | {
      readonly kind: 'number';
      readonly min?: number;
      readonly max?: number;
      readonly isWhole?: boolean;
      readonly allowsPercentage?: boolean;
    }
  | { readonly kind: 'choice'; readonly choices: readonly FieldChoice[] }
  /** A list of texts without HTML. `areIds`: they name parts. */
  | {
      readonly kind: 'texts';
      readonly areIds?: boolean;
      readonly maxItems?: number;
      readonly maxLength?: number;
    }
  /** Images, video and audio are a media reference or a URL. Captions are, or a list with `captionsFields`. */
  | { readonly kind: 'boolean' | 'html' | 'image' | 'video' | 'audio' | 'captions' }
  /** `inColumns`: a list of lists of blocks. */
  | { readonly kind: 'blocks'; readonly inColumns?: boolean }
  /** A list of objects, or one object, with these members. */
  | { readonly kind: 'list' | 'object'; readonly fields: Fields };

export interface FieldChoice {
  readonly value: string | number;
  readonly label: string;
}

/** The members of an entry in a list of captions. */
export const captionsFields: Fields = {
  src: { kind: 'text', label: 'File', help: 'a media reference or a URL', required: true },
  language: { kind: 'text', label: 'Language', help: 'a tag such as pt-BR' },
  label: { kind: 'text', label: 'Name in the menu', help: 'by default the language’s own name' },
};

/** Returns the fields of the members of a value: of an object, or of each entry of a list; undefined without any. */
export function memberFields(field: Field): Fields | undefined {
  if (field.kind === 'list' || field.kind === 'object') return field.fields;
  return field.kind === 'captions' ? captionsFields : undefined;
}

/** Returns what a field may hold, in words and in Markdown: "HTML", "1 to 6", "list of blocks". */
export function describeValue(field: Field): string {
  switch (field.kind) {
    case 'text':
      return field.isId ? 'id' : 'plain text';
    case 'number':
      return describeNumber(field);
    case 'boolean':
      return 'boolean';
    case 'choice':
      return describeChoices(field.choices.map(({ value }) => value));
    case 'texts':
      return describeTexts(field);
    case 'html':
      return 'HTML';
    case 'captions':
      return 'WebVTT or SubRip';
    case 'blocks':
      return field.inColumns ? 'list of lists of blocks' : 'blocks';
    case 'list':
      return 'list';
    case 'object':
      return '';
    case 'image':
    case 'video':
    case 'audio':
      return `${field.kind} file`;
  }
}

function describeChoices(values: readonly (string | number)[]): string {
  const numbers = values.filter((value) => typeof value === 'number');
  return numbers.length > 0
    ? `${Math.min(...numbers)} to ${Math.max(...numbers)}`
    : values.map((value) => `\`${value}\``).join(', ');
}

function describeNumber({ min, max, isWhole, allowsPercentage }: FieldValue & { kind: 'number' }): string {
  const range = min === undefined ? '' : ` from ${min}${max === undefined ? '' : ` to ${max}`}`;
  const alternative = allowsPercentage ? ', or a percentage such as `"5%"`' : '';
  return `${isWhole ? 'integer' : 'number'}${range}${alternative}`;
}

function describeTexts({ areIds, maxItems, maxLength }: FieldValue & { kind: 'texts' }): string {
  if (areIds) return '';
  const limits = [maxItems && `at most ${maxItems}`, maxLength && `of up to ${maxLength} characters`];
  return ['list of texts', ...limits].filter(Boolean).join(', ');
}
