const RIGHT_TO_LEFT_LANGUAGES = /^(ar|arc|ckb|dv|fa|he|iw|ks|nqo|ps|sd|syr|ug|ur|yi)$/;
const RIGHT_TO_LEFT_SCRIPTS = /^(adlm|arab|hebr|nkoo|rohg|syrc|thaa)$/;

/**
 * The direction in which a language is written. A script in the tag decides (`ku-Arab`, `ar-Latn`), else the
 * language. `Intl.Locale` knows this too, but not yet in every browser the player supports.
 *
 * @param language a BCP 47 tag
 */
export function textDirection(language: string): 'ltr' | 'rtl' {
  const [base = '', ...rest] = language.toLowerCase().split('-');
  const script = rest.find((subtag) => /^[a-z]{4}$/.test(subtag));
  if (script) return RIGHT_TO_LEFT_SCRIPTS.test(script) ? 'rtl' : 'ltr';
  return RIGHT_TO_LEFT_LANGUAGES.test(base) ? 'rtl' : 'ltr';
}
