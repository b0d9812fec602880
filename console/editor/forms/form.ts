import type { ComponentType } from 'preact';
import { signal } from '@preact/signals';
import { loadFieldTexts } from 'messages:fields';
import { supportedLanguage } from '../../../shared/i18n/message.ts';
import type { Field } from '../../../shared/lessons/widget-fields.ts';
import { locale } from '../../shell/text.ts';
import type { Finding, Path } from '../model/blocks.ts';

/** What the inputs of a block's form share. */
export interface Form {
  /** The language of the lesson. */
  readonly language: string;
  readonly findings: readonly Finding[];
  /** Returns the value of a prop, or of a part of one, after all changes so far. */
  readonly get: (path: Path) => unknown;
  /**
   * Changes parts of the block at once.
   *
   * @param changes a value and its path; undefined removes a member
   */
  readonly set: (...changes: [path: Path, value: unknown][]) => void;
  readonly onOpenBlock: (blockId: string) => void;
  /** The input for a field of any kind, for members of others. */
  readonly Input: ComponentType<InputProps>;
}

/** What the input for a field gets. */
export interface InputProps {
  readonly form: Form;
  readonly field: Field;
  readonly path: Path;
}

/** What the input for fields of one kind gets. */
export interface PropsOf<Kind extends Field['kind']> extends InputProps {
  readonly field: Extract<Field, { kind: Kind }>;
}

/** The texts of fields in the reader's language, by the English ones. */
const translations = signal<Readonly<Record<string, string>>>({});

/** Loads the texts of fields in the reader's language. */
export async function loadTranslations(): Promise<void> {
  const load = loadFieldTexts[supportedLanguage(locale.value) ?? 'en'];
  translations.value = (await load?.().catch(() => undefined))?.default ?? {};
}

/** Returns the label, the help or a choice of a field in the reader's language, as a sentence or a name. */
export function fieldText(english: string): string {
  const text = Object.hasOwn(translations.value, english) ? translations.value[english] : undefined;
  return text ?? english;
}

/** Returns the texts of the findings at a path, in one; undefined without any. */
export function faultAt({ findings }: Form, path: Path): string | undefined {
  const texts = findings.filter((finding) => isSamePath(finding.path ?? [], path)).map(({ text }) => text);
  return texts.length > 0 ? texts.join(' ') : undefined;
}

function isSamePath(one: Path, other: Path): boolean {
  return one.length === other.length && one.every((name, index) => String(name) === String(other[index]));
}

/** Returns the label and help of a field for its input, with its faults. */
export function textsOf({ form, field, path }: InputProps): {
  label: string;
  help: string | undefined;
  error: string | undefined;
} {
  return {
    label: fieldText(field.label),
    help: field.help === undefined ? undefined : fieldText(field.help),
    error: faultAt(form, path),
  };
}

/** Returns the value to store for an input without a text: only props that a widget needs stay, empty. */
export function storedText(field: Field, text: string): string | undefined {
  return text === '' && field.required !== true ? undefined : text;
}
