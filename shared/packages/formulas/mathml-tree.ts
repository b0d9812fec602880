import { defaultTreeAdapter, html } from 'parse5';
import type { DefaultTreeAdapterTypes } from 'parse5';

export type MathElement = DefaultTreeAdapterTypes.Element;
type ChildNode = DefaultTreeAdapterTypes.ChildNode;

/** Makes a MathML element. A string among the children becomes text. */
export function mathElement(
  name: string,
  attributes: Record<string, string | undefined> = {},
  children: (ChildNode | string)[] = [],
): MathElement {
  const attrs = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ name: key, value }],
  );
  const element = defaultTreeAdapter.createElement(name, html.NS.MATHML, attrs);
  setChildren(element, children);
  return element;
}

export function setChildren(element: MathElement, children: (ChildNode | string)[]): void {
  element.childNodes = [];
  for (const child of children) {
    if (typeof child === 'string') defaultTreeAdapter.insertText(element, child);
    else defaultTreeAdapter.appendChild(element, child);
  }
}

/** Returns the child elements. Between them, MathML has only white space. */
export function parts(element: MathElement): MathElement[] {
  return element.childNodes.filter((child): child is MathElement => 'tagName' in child);
}

export function textOf(element: MathElement): string {
  return element.childNodes
    .map((child) => ('value' in child ? child.value : 'tagName' in child ? textOf(child) : ''))
    .join('');
}

export function attribute(element: MathElement, name: string): string | undefined {
  return element.attrs.find((one) => one.name === name)?.value.trim();
}

/** Removes an attribute, and returns its value. */
export function takeAttribute(element: MathElement, name: string): string | undefined {
  const value = attribute(element, name);
  if (value !== undefined) element.attrs = element.attrs.filter((one) => one.name !== name);
  return value;
}

export function setAttribute(element: MathElement, name: string, value: string): void {
  takeAttribute(element, name);
  element.attrs.push({ name, value });
}

/** Adds declarations, such as `color:red;`, to the style of an element. */
export function addStyle(element: MathElement, declarations: string): void {
  if (declarations !== '')
    setAttribute(element, 'style', `${attribute(element, 'style') ?? ''}${declarations}`);
}

export function addClass(element: MathElement, name: string): void {
  setAttribute(element, 'class', [attribute(element, 'class'), name].filter(Boolean).join(' '));
}

/** Wraps several elements in an `mrow`; returns a single one as it is. */
export function row(children: MathElement[]): MathElement {
  const [only] = children;
  return children.length === 1 && only !== undefined ? only : mathElement('mrow', {}, children);
}
