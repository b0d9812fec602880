import escapeHtml from 'escape-html';

/** A piece of HTML that can be sent as it is. Only {@link markup} makes one of a text. */
export class Html {
  readonly source: string;

  /** @param source HTML of our own making, in which nothing stands that anybody else wrote. */
  constructor(source: string) {
    this.source = source;
  }
}

/** A template of HTML: what is put into it is escaped, unless it is HTML itself. */
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
