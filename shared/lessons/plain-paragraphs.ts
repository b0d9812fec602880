/** Returns HTML for a text in a field for HTML: in one without tags, a blank line starts a paragraph. */
export function withParagraphs(source: string): string {
  if (source.includes('<') || !source.includes('\n')) return source;
  return source
    .split(/\n\s*\n/)
    .map((paragraph) => `<p>${paragraph.replaceAll('\n', '<br>')}</p>`)
    .join('');
}
