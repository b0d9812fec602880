import { schemaFaults } from './xml-schemas.ts';

/*
 * Schemas of our own, which allow only what Lectern writes. For cmi5, they follow the text of the specification (section
 * 13): its official schema could not be obtained. We may not copy the official ones of Common Cartridge (1EdTech).
 */

const schema = (namespace: string, prefixes: string, definitions: string) =>
  Buffer.from(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="${namespace}" ${prefixes}
    targetNamespace="${namespace}" elementFormDefault="qualified">${definitions}</xs:schema>`);

const element = (name: string, type: string, occurs = '') =>
  `<xs:element name="${name}" type="${type}" ${occurs}/>`;
const attribute = (name: string, type: string, use = 'required') =>
  `<xs:attribute name="${name}" type="${type}" use="${use}"/>`;
const type = (name: string, elements: string, attributes = '') =>
  `<xs:complexType name="${name}"><xs:sequence>${elements}</xs:sequence>${attributes}</xs:complexType>`;
const textType = (name: string, base: string, attributes: string) =>
  `<xs:complexType name="${name}"><xs:simpleContent><xs:extension base="${base}">${attributes}</xs:extension></xs:simpleContent></xs:complexType>`;
const oneOf = (name: string, ...values: string[]) =>
  `<xs:simpleType name="${name}"><xs:restriction base="xs:string">${values
    .map((value) => `<xs:enumeration value="${value}"/>`)
    .join('')}</xs:restriction></xs:simpleType>`;

const optional = 'minOccurs="0"';
const many = 'minOccurs="0" maxOccurs="unbounded"';

const cmi5Namespace = 'https://w3id.org/xapi/profiles/cmi5/v1/CourseStructure.xsd';
const cmi5 = schema(
  cmi5Namespace,
  '',
  [
    element('courseStructure', 'structure'),
    type('structure', element('course', 'course') + element('au', 'au', 'maxOccurs="unbounded"')),
    type('course', element('title', 'text') + element('description', 'text'), attribute('id', 'xs:anyURI')),
    type(
      'au',
      element('title', 'text') + element('description', 'text') + element('url', 'url'),
      attribute('id', 'xs:anyURI') +
        attribute('moveOn', 'moveOn') +
        attribute('masteryScore', 'share', 'optional') +
        attribute('launchMethod', 'method') +
        attribute('activityType', 'xs:string'),
    ),
    type('text', element('langstring', 'langstring', 'maxOccurs="unbounded"')),
    textType('langstring', 'xs:string', attribute('lang', 'xs:language')),
    '<xs:simpleType name="url"><xs:restriction base="xs:anyURI"><xs:minLength value="1"/></xs:restriction></xs:simpleType>',
    '<xs:simpleType name="share"><xs:restriction base="xs:decimal"><xs:minInclusive value="0"/><xs:maxInclusive value="1"/></xs:restriction></xs:simpleType>',
    oneOf('moveOn', 'NotApplicable', 'Passed', 'Completed', 'CompletedAndPassed', 'CompletedOrPassed'),
    oneOf('method', 'AnyWindow', 'OwnWindow'),
  ].join(''),
);

const ims = 'http://www.imsglobal.org/xsd/';
const properties = `${ims}imslticm_v1p0`;
const vendor = `${ims}imslticp_v1p0`;
const link = `${ims}imsbasiclti_v1p0`;

/** The schemas of links, which both versions of Common Cartridge share. */
const linkSchemas: [string, string, Buffer][] = [
  [
    properties,
    'properties.xsd',
    schema(
      properties,
      '',
      type('set', element('property', 'property', many)) +
        textType('property', 'xs:string', attribute('name', 'xs:Name')) +
        `<xs:complexType name="platformSet"><xs:complexContent><xs:extension base="set">${attribute('platform', 'xs:Name')}</xs:extension></xs:complexContent></xs:complexType>`,
    ),
  ],
  [
    vendor,
    'vendor.xsd',
    schema(vendor, '', type('vendor', element('code', 'xs:normalizedString') + element('name', 'xs:string'))),
  ],
  [
    link,
    'link.xsd',
    schema(
      link,
      `xmlns:lticm="${properties}" xmlns:lticp="${vendor}"`,
      `<xs:import namespace="${properties}" schemaLocation="properties.xsd"/><xs:import namespace="${vendor}" schemaLocation="vendor.xsd"/>` +
        type(
          'link',
          element('title', 'xs:normalizedString') +
            element('description', 'xs:string', optional) +
            element('custom', 'lticm:set', optional) +
            element('extensions', 'lticm:platformSet', many) +
            element('launch_url', 'url', optional) +
            element('secure_launch_url', 'url', optional) +
            element('vendor', 'lticp:vendor'),
        ) +
        '<xs:simpleType name="url"><xs:restriction base="xs:string"><xs:minLength value="1"/><xs:maxLength value="4096"/></xs:restriction></xs:simpleType>',
    ),
  ],
];

/** The schemas of a version of Common Cartridge. */
function cartridge(version: '1.1' | '1.3'): [string, string, Buffer][] {
  const digits = version.replace('.', 'p');
  const manifest = `${ims}imsccv${digits}/imscp_v1p1`;
  const lom = `http://ltsc.ieee.org/xsd/imsccv${digits}/LOM/manifest`;
  const root = version === '1.1' ? `${ims}imslticc_v1p0` : `${ims}imslticc_v1p3`;
  return [
    ...linkSchemas,
    [
      root,
      'root.xsd',
      schema(
        root,
        `xmlns:blti="${link}"`,
        `<xs:import namespace="${link}" schemaLocation="link.xsd"/>${element('cartridge_basiclti_link', 'blti:link')}`,
      ),
    ],
    [
      lom,
      'lom.xsd',
      schema(
        lom,
        '',
        element('lom', 'lom') +
          type('lom', element('general', 'general')) +
          type('general', element('title', 'title')) +
          type('title', element('string', 'string', 'maxOccurs="unbounded"')) +
          textType('string', 'xs:string', attribute('language', 'xs:language')),
      ),
    ],
    [
      manifest,
      'manifest.xsd',
      schema(
        manifest,
        `xmlns:lomimscc="${lom}"`,
        `<xs:import namespace="${lom}" schemaLocation="lom.xsd"/>` +
          element('manifest', 'manifest') +
          type(
            'manifest',
            element('metadata', 'metadata') +
              element('organizations', 'organizations') +
              element('resources', 'resources'),
            attribute('identifier', 'xs:ID'),
          ) +
          type(
            'metadata',
            `${element('schema', 'standard')}${element('schemaversion', 'version')}<xs:element ref="lomimscc:lom"/>`,
          ) +
          oneOf('standard', 'IMS Common Cartridge') +
          oneOf('version', `${version}.0`) +
          type('organizations', element('organization', 'organization')) +
          type(
            'organization',
            element('item', 'rootItem'),
            attribute('identifier', 'xs:ID') + attribute('structure', 'structure'),
          ) +
          oneOf('structure', 'rooted-hierarchy') +
          type('rootItem', element('item', 'item', many), attribute('identifier', 'xs:ID')) +
          type(
            'item',
            element('title', 'xs:string') + element('item', 'item', many),
            attribute('identifier', 'xs:ID') + attribute('identifierref', 'xs:IDREF', 'optional'),
          ) +
          type('resources', element('resource', 'resource', many)) +
          type(
            'resource',
            element('file', 'file'),
            attribute('identifier', 'xs:ID') + attribute('type', 'resourceType'),
          ) +
          oneOf('resourceType', version === '1.1' ? 'imsbasiclti_xmlv1p0' : 'imsbasiclti_xmlv1p3') +
          '<xs:complexType name="file"><xs:attribute name="href" type="xs:anyURI" use="required"/></xs:complexType>',
      ),
    ],
  ];
}

function faults(xml: string, schemas: readonly [string, string, Buffer][]): Promise<string[]> {
  const files = new Map(schemas.map(([, file, bytes]) => [file, bytes]));
  return schemaFaults(
    xml,
    files,
    schemas.map(([namespace, file]) => ({ namespace, file })),
  );
}

/** Returns the faults of cmi5.xml. */
export function cmi5Faults(xml: string): Promise<string[]> {
  return faults(xml, [[cmi5Namespace, 'cmi5.xsd', cmi5]]);
}

/** Returns the faults of a file of a Common Cartridge. */
export function cartridgeFaults(xml: string, version: '1.1' | '1.3'): Promise<string[]> {
  return faults(xml, cartridge(version));
}
