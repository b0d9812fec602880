/** Returns a text for comparisons: a search for "resume" finds "Résumé". */
export function searchable(text: string): string {
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trim();
}
