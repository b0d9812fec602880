import { SaxesParser } from 'saxes';
import { validateXML } from 'xmllint-wasm';

/**
 * Validates XML against schemas, without any network. Returns the faults.
 *
 * @param schemas by file name; `main` names those that define the namespaces of the document
 */
export async function schemaFaults(
  xml: string,
  schemas: ReadonlyMap<string, Buffer>,
  main: readonly { namespace: string; file: string }[],
): Promise<string[]> {
  // One schema that imports the others: xmllint ignores xsi:schemaLocation.
  const imports = main.map(
    ({ namespace, file }) => `<xs:import namespace="${namespace}" schemaLocation="${file}"/>`,
  );
  const schema = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${imports.join('')}</xs:schema>`;
  const { errors } = await validateXML({
    xml: [{ fileName: 'document.xml', contents: xml }],
    schema: [{ fileName: 'all.xsd', contents: schema }],
    preload: [...schemas].map(([fileName, contents]) => ({ fileName, contents: contents.toString('utf8') })),
  });
  return errors.map(({ message }) => message);
}

/** Returns the names of all elements, in the order of the document, and all texts. Fails if it is not well-formed. */
export function readXml(xml: string): { names: string[]; texts: string[] } {
  const names: string[] = [];
  const texts: string[] = [];
  const parser = new SaxesParser({ xmlns: true });
  parser.on('opentag', ({ local }) => names.push(local));
  parser.on('text', (text) => text.trim() !== '' && texts.push(text));
  parser.write(xml).close();
  return { names, texts };
}

/** Returns the schemas that a document names in xsi:schemaLocation. */
export function namedSchemas(xml: string): { namespace: string; file: string }[] {
  const words = (/xsi:schemaLocation="([^"]*)"/.exec(xml)?.[1] ?? '').split(/\s+/);
  return words.flatMap((namespace, index) =>
    index % 2 === 0 ? [{ namespace, file: words[index + 1] ?? '' }] : [],
  );
}
