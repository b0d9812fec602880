const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A piece of HTML that can be sent as it is. */
export class Html {
  readonly source: string;

  /** @param source HTML of our own making, in which nothing stands that anybody else wrote. */
  constructor(source: string) {
    this.source = source;
  }
}

type Value = string | number | Html | readonly Html[];

/** A template of HTML: what is put into it is escaped, unless it is HTML itself. */
export function markup(pieces: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(String.raw({ raw: pieces }, ...values.map(textOf)));
}

function textOf(value: Value): string {
  if (value instanceof Html) return value.source;
  if (typeof value === 'object') return value.map(({ source }) => source).join('');
  return String(value).replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** Hidden fields of a form. */
export function hiddenFields(fields: Readonly<Record<string, string>>): Html[] {
  return Object.entries(fields).map(
    ([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">\n`,
  );
}
