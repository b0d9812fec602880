const rightToLeftLanguages = /^(ar|arc|ckb|dv|fa|he|iw|ks|nqo|ps|sd|syr|ug|ur|yi)$/;
const rightToLeftScripts = /^(adlm|arab|hebr|nkoo|rohg|syrc|thaa)$/;

/**
 * Returns the direction in which a language is written. A script in the tag decides (`ku-Arab`, `ar-Latn`), else the
 * language. Not every browser that the player supports has this in `Intl.Locale`.
 *
 * @param language a BCP 47 tag
 */
export function textDirection(language: string): 'ltr' | 'rtl' {
  const [base = '', ...rest] = language.toLowerCase().split('-');
  const script = rest.find((subtag) => /^[a-z]{4}$/.test(subtag));
  if (script) return rightToLeftScripts.test(script) ? 'rtl' : 'ltr';
  return rightToLeftLanguages.test(base) ? 'rtl' : 'ltr';
}
