import { reveal, uniqueId } from './dom.ts';

/** The prefix that the sanitizer gives to ids and names, so that none of them stands for a property of the page. */
const sanitizerPrefix = /^user-content-/;

/** Attributes with ids of other parts, separated by spaces. */
const idLists = [
  'aria-activedescendant',
  'aria-controls',
  'aria-describedby',
  'aria-details',
  'aria-errormessage',
  'aria-flowto',
  'aria-labelledby',
  'aria-owns',
  'headers',
];

/** Returns the id of the part with this name in the same text; the name itself if the text has none. */
type FindId = (name: string) => string;

/**
 * Makes the ids and names of a text unique on the page, with all that refers to them in it: other texts of the step may
 * have notes, gradients or image maps of the same names.
 */
export function isolateParts(fragment: DocumentFragment): void {
  const named = fragment.querySelectorAll('[id], [name]');
  if (named.length === 0) return;
  const prefix = uniqueId();
  const names = new Set<string>();
  for (const node of named) {
    for (const attribute of ['name', 'id']) {
      const name = node.getAttribute(attribute)?.replace(sanitizerPrefix, '');
      if (name === undefined) continue;
      names.add(name);
      node.setAttribute(attribute, `${prefix}-${name}`);
      // By this, links of other texts find it, such as those to a list of notes.
      node.setAttribute('data-lectern-part', name);
    }
  }
  const findId: FindId = (name) => (names.has(name) ? `${prefix}-${name}` : name);
  for (const node of fragment.querySelectorAll('*')) {
    for (const { name, localName, value } of [...node.attributes]) {
      const changed = withIds(localName, value, findId);
      if (changed !== value) node.setAttribute(name, changed);
    }
  }
}

function withIds(attribute: string, value: string, findId: FindId): string {
  if (idLists.includes(attribute)) return value.split(/\s+/).map(findId).join(' ');
  if (attribute !== 'href' && attribute !== 'usemap') {
    return value.replaceAll(
      /(url\(\s*["']?#)([^"'()\\]*)/gi,
      (_all, start: string, name: string) => start + findId(name),
    );
  }
  const [, fragment] = /^\s*#(.*?)\s*$/s.exec(value) ?? [];
  if (fragment === undefined) return value;
  const name = partName(fragment);
  const id = findId(name);
  return id === name ? value : `#${id}`;
}

/** Makes a link within the lesson, such as one to a footnote, lead to the nearest part of its name. */
export function leadToPart(link: Element): void {
  link.addEventListener('click', (event) => {
    const target = nearestPart(link);
    if (target === undefined) return;
    // The browser would change the URL, in which the page writes the step.
    event.preventDefault();
    open(target);
    if (!target.hasAttribute('tabindex') && !target.matches('a[href]')) target.setAttribute('tabindex', '-1');
    target.focus({ preventScroll: true });
    reveal(target);
  });
}

function nearestPart(link: Element): HTMLElement | undefined {
  const fragment = link.getAttribute('href')?.trim().slice(1) ?? '';
  const [id, name] = [fragment, partName(fragment)].map((part) => CSS.escape(part));
  for (const scope of ancestors(link)) {
    const found = scope.querySelector<HTMLElement>(
      `[id="${id}"], a[name="${id}"], [data-lectern-part="${name}"]`,
    );
    if (found !== null && found !== link) return found;
  }
  return undefined;
}

/** Opens the panels and tabs that hide an element. */
function open(target: Element): void {
  for (const scope of [target, ...ancestors(target)]) {
    if (scope instanceof HTMLDetailsElement) scope.open = true;
    if (!(scope instanceof HTMLElement) || !scope.matches('.lectern-tab-panel[hidden]')) continue;
    const tab = scope.getAttribute('aria-labelledby') ?? '';
    (scope.getRootNode() as Document | ShadowRoot).getElementById(tab)?.click();
  }
}

function* ancestors(node: Node): Generator<ParentNode> {
  for (let scope = node.parentNode; scope !== null; scope = scope.parentNode) yield scope;
}

/** Returns the name of a part in a URL's fragment. */
function partName(fragment: string): string {
  try {
    return decodeURIComponent(fragment).replace(sanitizerPrefix, '');
  } catch {
    return fragment;
  }
}
