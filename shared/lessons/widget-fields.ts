/**
 * The definition of a widget's props, from which follow the forms of authors, the tables of docs/widgets.md, the JSON
 * Schema of lesson.json, and the warnings about unknown props.
 *
 * Texts are English. A translation of one is a message under the key of its place in the table, such as
 * `fields.MultipleChoice.choices.html.label`; the props that all questions share are under `fields.question`.
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
  /** Images, video and audio are a media reference or a URL. Captions are, or a list with {@link captionsFields}. */
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
  src: { kind: 'captions', label: 'File', required: true },
  language: { kind: 'text', label: 'Language', help: 'a tag such as pt-BR' },
  label: { kind: 'text', label: 'Name in the menu', help: 'by default the language’s own name' },
};

/** Returns the fields of the members of a value: of an object, or of each entry of a list; undefined without any. */
export function memberFields(field: Field): Fields | undefined {
  if (field.kind === 'list' || field.kind === 'object') return field.fields;
  return field.kind === 'captions' ? captionsFields : undefined;
}
