/**
 * The words in a language; English where there are none.
 *
 * @param all by the languages that they are in
 * @param language a BCP 47 tag: region and script do not matter (`pt-BR` reads `pt`)
 */
export function wordsIn<Words>(all: Record<string, Words> & { en: Words }, language: string): Words {
  const [base = ''] = language.toLowerCase().split('-');
  return new Map(Object.entries(all)).get(base) ?? all.en;
}
