/**
 * Recognizes a web page where a service should answer: of an error, a login or another server at a wrong URL. Type and
 * bytes both count, because servers send pages as JSON and without a type, too.
 */
export function isWebPage({ contentType, text }: { contentType: string | null; text: string }): boolean {
  if (text.trim() === '') return false;
  return /^\s*(text\/html|application\/xhtml\+xml)\b/i.test(contentType ?? '') || /^[\s\uFEFF]*</.test(text);
}
