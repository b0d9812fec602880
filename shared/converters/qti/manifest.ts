import { SourceFault } from '../source.ts';
import type { Source } from '../source.ts';
import { childOf, childrenOf, parseXml, textIn } from '../xml.ts';
import type { XmlElement } from '../xml.ts';
import { manifestPath } from './files.ts';

/** The manifest of a content package (IMS CP). */
export interface Manifest {
  schema: string;
  title: string;
  language: string;
  resources: ReadonlyMap<string, Resource>;
  /** The entries at the top of the first organization. */
  items: ManifestItem[];
}

export interface Resource {
  id: string;
  type: string;
  /** The path of its main file; '' for none, or for a URL. */
  path: string;
  /** A URL in place of a file. */
  url: string;
  /** The paths of all its files. */
  files: string[];
  dependencies: string[];
  line: number;
}

export interface ManifestItem {
  title: string;
  /** The id of a resource; '' for a folder. */
  resource: string;
  items: ManifestItem[];
  line: number;
}

export const manifestName = 'imsmanifest.xml';

const maxResources = 20_000;

/** @throws {SourceFault} if it is damaged, or names files outside of the package */
export async function readManifest(source: Source): Promise<Manifest> {
  const root = parseXml(await source.text(manifestName), manifestName);
  const metadata = childOf(root, 'metadata');
  const lom = childOf(childOf(metadata, 'lom'), 'general');
  const resources = childrenOf(childOf(root, 'resources'), 'resource');
  if (resources.length > maxResources) {
    throw new SourceFault(
      `${manifestName}: has ${resources.length} resources; at most ${maxResources} are allowed`,
    );
  }
  const [organization] = childrenOf(childOf(root, 'organizations'), 'organization');
  return {
    schema: textIn(metadata, 'schema'),
    title: firstText(childOf(lom, 'title')),
    language: firstText(childOf(lom, 'language')),
    resources: new Map(resources.map((one) => [one.attributes.identifier ?? '', resourceOf(one)])),
    items: childrenOf(organization, 'item').map(itemOf),
  };
}

function resourceOf(element: XmlElement): Resource {
  const { identifier = '', type = '', href = '' } = element.attributes;
  // Paths are relative to a base that resources may have.
  const base = `${element.attributes['xml:base'] ?? ''}x`;
  const place = `${manifestName}:${element.line}`;
  const isUrl = /^https?:/i.test(href);
  const pathOf = (path: string) => (path.trim() === '' ? '' : manifestPath(base, path, place));
  const files = childrenOf(element, 'file').map((file) => file.attributes.href ?? '');
  return {
    ...{ id: identifier, type, line: element.line },
    path: isUrl ? '' : pathOf(href),
    url: isUrl ? href.trim() : '',
    files: files.filter((file) => !/^https?:/i.test(file)).map(pathOf),
    dependencies: childrenOf(element, 'dependency').map((one) => one.attributes.identifierref ?? ''),
  };
}

function itemOf(element: XmlElement): ManifestItem {
  return {
    title: textIn(element, 'title'),
    resource: element.attributes.identifierref ?? '',
    items: childrenOf(element, 'item').map(itemOf),
    line: element.line,
  };
}

/** Returns the first text in an element that has one for each language. */
function firstText(element: XmlElement | undefined): string {
  if (element === undefined) return '';
  const own = element.text.trim();
  return own === '' ? (element.children.map(firstText).find((text) => text !== '') ?? '') : own;
}
