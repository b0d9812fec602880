/**
 * Returns the messages in a language, or in English when there are none.
 *
 * @param all the messages by language
 * @param language a BCP 47 tag: region and script do not matter (`pt-BR` reads `pt`)
 */
export function wordsIn<Words>(all: Record<string, Words> & { en: Words }, language: string): Words {
  const [base = ''] = language.toLowerCase().split('-');
  return new Map(Object.entries(all)).get(base) ?? all.en;
}
