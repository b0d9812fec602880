import { valueOf } from './visibility.ts';
import type { Variables } from './visibility.ts';

/** What is no text: names that other parts of the lesson, and the server, know a thing by, and addresses. */
const NO_TEXT = new Set(['captions', 'correct', 'id', 'poster', 'src', 'type', 'variable', 'visibleIf']);

const GAP = /\{\{([^{}]+)\}\}/g;

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export interface TextOptions {
  variables: Variables;
  /** A BCP 47 tag: numbers are written as it writes them. */
  language: string;
  /** The props that hold plain text. All others are taken for HTML, where values must not become markup. */
  plainProps: readonly string[];
}

/**
 * A block's props with the values of variables in place of the `{{name}}` in its texts, at any depth. Nested blocks
 * stay as they are, for they are filled when they are shown themselves; so does a `{{name}}` that names no variable.
 *
 * @returns the very same props when there is nothing to fill
 */
export function fillProps<Props extends Record<string, unknown>>(props: Props, options: TextOptions): Props {
  const entries = Object.entries(props).map(([name, value]) => {
    if (NO_TEXT.has(name)) return [name, value, value] as const;
    return [name, value, filled(value, options, options.plainProps.includes(name))] as const;
  });
  if (entries.every(([, before, after]) => before === after)) return props;
  return Object.fromEntries(entries.map(([name, , after]) => [name, after])) as Props;
}

function filled(value: unknown, options: TextOptions, isPlain: boolean): unknown {
  if (typeof value === 'string') return filledText(value, options, isPlain);
  if (typeof value !== 'object' || value === null || isBlock(value)) return value;
  if (Array.isArray(value)) {
    const elements = (value as unknown[]).map((element) => filled(element, options, isPlain));
    return elements.every((element, index) => element === (value as unknown[])[index]) ? value : elements;
  }
  const members = Object.entries(value).map(([name, member]) => {
    const after: unknown = NO_TEXT.has(name) ? member : filled(member, options, isPlain);
    return [name, member as unknown, after] as const;
  });
  if (members.every(([, before, after]) => before === after)) return value;
  return Object.fromEntries(members.map(([name, , after]) => [name, after]));
}

function filledText(text: string, { variables, language }: TextOptions, isPlain: boolean): string {
  if (!text.includes('{{')) return text;
  return text.replace(GAP, (gap, inner: string) => {
    const name = inner.trim();
    if (!Object.hasOwn(variables, name)) return gap;
    const shown = written(valueOf(variables, name), language);
    return isPlain ? shown : shown.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
  });
}

/** A value as people read it; nothing for what is not set, and for what has no words. */
function written(value: unknown, language: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.map((element) => written(element, language)).join(', ');
  return typeof value === 'number' ? numberText(value, language) : '';
}

function numberText(value: number, language: string): string {
  try {
    // Without grouping: a number may be a year.
    return value.toLocaleString(language, { useGrouping: false, maximumFractionDigits: 4 });
  } catch {
    return String(value);
  }
}

function isBlock(value: object): boolean {
  const { type, props } = value as Record<string, unknown>;
  return typeof type === 'string' && typeof props === 'object' && props !== null;
}
