import escapeHtml from 'escape-html';

/** Trusted HTML. {@link markup} creates it from untrusted text. */
export class Html {
  readonly source: string;

  /** @param source HTML without any untrusted text. */
  constructor(source: string) {
    this.source = source;
  }
}

/** Returns HTML from a template literal; escapes all values that are not {@link Html}. */
export function markup(
  pieces: TemplateStringsArray,
  ...values: (string | number | Html | readonly Html[])[]
): Html {
  const texts = values.map((value) => {
    if (value instanceof Html) return value.source;
    if (typeof value === 'object') return value.map(({ source }) => source).join('');
    return escapeHtml(String(value));
  });
  return new Html(String.raw({ raw: pieces }, ...texts));
}

/**
 * Escapes JSON for a script element: nothing in it ends the element or begins a comment. JSON has `<` only within
 * strings, so the value stays the same.
 */
export function scriptText(json: string): string {
  return json.replaceAll('<', '\\u003c');
}
