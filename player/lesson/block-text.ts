import { intlLocale } from '../../shared/i18n/message.ts';
import { valueOf } from './visibility.ts';
import type { Variables } from './visibility.ts';

/** Props that hold no text: ids, names and URLs. */
const nonTextProps = new Set(['captions', 'correct', 'id', 'poster', 'src', 'type', 'variable', 'visibleIf']);

const placeholder = /\{\{([^{}]+)\}\}/g;

/**
 * The maximum number of characters that variables add to one text, because a long value in many places would freeze the
 * page.
 */
const maxFilledChars = 500_000;

const htmlEscapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export interface TextOptions {
  variables: Variables;
  /** A BCP 47 tag, which decides the format of numbers. */
  language: string;
  /** The props that hold plain text. All others hold HTML, where values must not become markup. */
  plainProps: readonly string[];
}

/**
 * Replaces each `{{name}}` in a block's texts, at any depth, with the value of the variable. Nested blocks stay as they
 * are, because they are filled when they are shown. A `{{name}}` that names no variable stays, too.
 *
 * @returns the same object when there is nothing to replace
 */
export function fillProps<Props extends Record<string, unknown>>(props: Props, options: TextOptions): Props {
  const entries = Object.entries(props).map(([name, value]) => {
    if (nonTextProps.has(name)) return [name, value, value] as const;
    return [name, value, fillValue(value, options, options.plainProps.includes(name))] as const;
  });
  if (entries.every(([, before, after]) => before === after)) return props;
  return Object.fromEntries(entries.map(([name, , after]) => [name, after])) as Props;
}

function fillValue(value: unknown, options: TextOptions, isPlain: boolean): unknown {
  if (typeof value === 'string') return fillText(value, options, isPlain);
  if (typeof value !== 'object' || value === null || isBlock(value)) return value;
  if (Array.isArray(value)) {
    const elements = (value as unknown[]).map((element) => fillValue(element, options, isPlain));
    return elements.every((element, index) => element === (value as unknown[])[index]) ? value : elements;
  }
  const members = Object.entries(value).map(([name, member]) => {
    const after: unknown = nonTextProps.has(name) ? member : fillValue(member, options, isPlain);
    return [name, member as unknown, after] as const;
  });
  if (members.every(([, before, after]) => before === after)) return value;
  return Object.fromEntries(members.map(([name, , after]) => [name, after]));
}

/** Replaces each `{{name}}` in a text. @param isPlain whether the text is plain, otherwise HTML */
export function fillText(
  text: string,
  { variables, language }: Omit<TextOptions, 'plainProps'>,
  isPlain: boolean,
): string {
  if (!text.includes('{{')) return text;
  let left = maxFilledChars;
  return text.replace(placeholder, (match, inner: string) => {
    const name = inner.trim();
    if (!Object.hasOwn(variables, name)) return match;
    const value = formatValue(valueOf(variables, name), language).slice(0, left);
    left -= value.length;
    return isPlain ? value : value.replace(/[&<>"']/g, (character) => htmlEscapes[character] ?? character);
  });
}

/** Formats a value for readers; '' for null and for objects. */
function formatValue(value: unknown, language: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.map((element) => formatValue(element, language)).join(', ');
  return typeof value === 'number' ? formatNumber(value, language) : '';
}

function formatNumber(value: number, language: string): string {
  try {
    // Without grouping, because a number may be a year.
    return value.toLocaleString(intlLocale(language), { useGrouping: false, maximumFractionDigits: 4 });
  } catch {
    return String(value);
  }
}

function isBlock(value: object): boolean {
  const { type, props } = value as Record<string, unknown>;
  return typeof type === 'string' && typeof props === 'object' && props !== null;
}
