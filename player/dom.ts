type Attributes = Record<string, string | boolean | undefined>;

/**
 * Makes an element. A `true` attribute is set empty, a `false` or undefined one is left out; children that
 * are strings become text, never markup.
 */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children);
  return node;
}

/** An id for labels and groups, unique on the page even when a module is loaded twice. */
export function uniqueId(): string {
  return `lectern-${Math.random().toString(36).slice(2, 12)}`;
}
