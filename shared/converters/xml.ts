import { SaxesParser } from 'saxes';
import { SourceFault } from './source.ts';

/** An element of an XML file. */
export interface XmlElement {
  /** Without its prefix. */
  name: string;
  attributes: Readonly<Record<string, string>>;
  children: XmlElement[];
  /** Its own text, without that of its children. */
  text: string;
  /** Its texts and children, in their order. */
  nodes: (XmlElement | string)[];
  /** The line where it begins. */
  line: number;
}

const maxDepth = 100;
const maxElements = 200_000;

/**
 * Parses XML that defines no entities: a file can neither load others nor expand itself.
 *
 * @param name of the file, for messages
 * @throws {SourceFault} with the line of the first fault
 */
export function parseXml(text: string, name: string): XmlElement {
  const parser = new SaxesParser<{ position: true; xmlns: false }>({ position: true, xmlns: false });
  const open: XmlElement[] = [];
  const roots: XmlElement[] = [];
  let elements = 0;
  parser.on('error', (error) => {
    const [, message = error.message] = /^(?:[^:]*:)?\d+:\d+: (.*)$/s.exec(error.message) ?? [];
    throw new SourceFault(`${name}:${parser.line}: is not well-formed XML: ${message.replace(/\.$/, '')}`);
  });
  parser.on('opentag', ({ name: tag, attributes }) => {
    elements += 1;
    if (open.length > maxDepth) throw new SourceFault(`${name}: is nested deeper than ${maxDepth} levels`);
    if (elements > maxElements) throw new SourceFault(`${name}: has more than ${maxElements} elements`);
    const element: XmlElement = {
      ...{ name: tag.replace(/^.*:/, ''), attributes, children: [], text: '', nodes: [] },
      line: parser.line,
    };
    (open.at(-1)?.children ?? roots).push(element);
    open.at(-1)?.nodes.push(element);
    open.push(element);
  });
  const addText = (more: string) => {
    const last = open.at(-1);
    if (last === undefined) return;
    last.text += more;
    last.nodes.push(more);
  };
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => open.pop());
  parser.write(text.replace(/^\s+(?=<\?xml)/, '')).close();
  const [root] = roots;
  if (root === undefined) throw new SourceFault(`${name}: has no element`);
  return root;
}

export function childrenOf(element: XmlElement | undefined, name: string): XmlElement[] {
  return element?.children.filter((child) => child.name === name) ?? [];
}

export function childOf(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return element?.children.find((child) => child.name === name);
}

/** Returns the trimmed text of a child; '' if it is missing. */
export function textIn(element: XmlElement | undefined, name: string): string {
  return childOf(element, name)?.text.trim() ?? '';
}
