import { escapeHtml, wordsOf } from '../questions/question-blocks.ts';

/*
 * Texts of H5P. Every text field holds HTML, at least entities: the editor escapes plain text.
 */

/** Returns the HTML of a text field; empty for any other value. */
export function htmlOf(value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value.trim() : '';
}

/** Returns a text field as plain text in one line. */
export function plainOf(value: unknown): string {
  return wordsOf(htmlOf(value));
}

/** Returns a number; undefined for any other value. The editor saves numbers as texts, too. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Returns a time of a video for people: 3:07, 1:02:00. */
export function timeOf(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
}

/** Returns a link with plain text. */
export function linkHtml(url: string, text: string): string {
  return `<a href="${escapeHtml(url).replaceAll('"', '&quot;')}">${escapeHtml(text)}</a>`;
}
