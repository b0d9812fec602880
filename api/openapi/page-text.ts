import { escapeHtml } from '../html.ts';

/** The little of Markdown that the document's own texts use: paragraphs, `code` and **bold**. */
export function markdown(text: string): string {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('');
}

/** One line of it. */
export function inline(text: string): string {
  return escapeHtml(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>');
}
