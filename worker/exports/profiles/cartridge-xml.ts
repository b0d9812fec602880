import { customParameters, noColumn } from '../../../shared/lti/claims.ts';
import { manifestId } from '../../../shared/lms/ids.ts';
import { fullMarks } from '../../../shared/progress/points.ts';
import { escapeXml } from './xml.ts';

/*
 * A thin Common Cartridge: links that platforms launch with LTI 1.3, without content. Sources: the 1EdTech schemas of
 * Common Cartridge 1.1 and 1.3, and the behavior of importers (docs/export/cartridge.md).
 */

/** A link to a published version. */
export interface CartridgeLink {
  lessonId: string;
  /** Null for a link that plays the newest version. */
  versionId: string | null;
  title: string;
  /** Whether answers earn points, so that the link gets a gradebook column. */
  isGraded: boolean;
}

/** The names that each version of Common Cartridge uses. */
const formats = {
  '1.1': {
    namespace: 'http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1',
    metadata: 'http://ltsc.ieee.org/xsd/imsccv1p1/LOM/manifest',
    link: 'http://www.imsglobal.org/xsd/imslticc_v1p0',
    linkType: 'imsbasiclti_xmlv1p0',
  },
  '1.3': {
    namespace: 'http://www.imsglobal.org/xsd/imsccv1p3/imscp_v1p1',
    metadata: 'http://ltsc.ieee.org/xsd/imsccv1p3/LOM/manifest',
    link: 'http://www.imsglobal.org/xsd/imslticc_v1p3',
    linkType: 'imsbasiclti_xmlv1p3',
  },
} as const;

export type CartridgeVersion = keyof typeof formats;

/** Returns the path of a link in its cartridge. */
export function linkPath({ lessonId }: Pick<CartridgeLink, 'lessonId'>): string {
  return `links/${lessonId}.xml`;
}

/**
 * Returns the file of a link. The URL names lesson and version too, because many importers drop custom parameters. It
 * has no query with two parameters, which Canvas takes for an unescaped one.
 *
 * @param publicUrl without a slash at the end: the platform finds its registration of Lectern by this domain.
 */
export function cartridgeLink(link: CartridgeLink, publicUrl: string, version: CartridgeVersion): string {
  const { lessonId, versionId, title, isGraded } = link;
  const path = versionId === null ? lessonId : `${lessonId}/${versionId}`;
  const url = escapeXml(`${publicUrl}/lti/launch/${path}`);
  const urlElement = publicUrl.startsWith('https:') ? 'secure_launch_url' : 'launch_url';
  const custom = {
    [customParameters.lessonId]: lessonId,
    ...(versionId !== null && { [customParameters.versionId]: versionId }),
    ...(!isGraded && { [customParameters.column]: noColumn }),
  };
  const properties = Object.entries(custom).map(
    ([name, value]) => `    <lticm:property name="${name}">${value}</lticm:property>\n`,
  );
  // Canvas makes a graded assignment of the link.
  const outcome = isGraded
    ? `  <blti:extensions platform="canvas.instructure.com">
    <lticm:property name="outcome">${fullMarks}</lticm:property>
  </blti:extensions>
`
    : '';
  return `<?xml version="1.0" encoding="UTF-8"?>
<cartridge_basiclti_link xmlns="${formats[version].link}"
  xmlns:blti="http://www.imsglobal.org/xsd/imsbasiclti_v1p0"
  xmlns:lticm="http://www.imsglobal.org/xsd/imslticm_v1p0"
  xmlns:lticp="http://www.imsglobal.org/xsd/imslticp_v1p0">
  <blti:title>${escapeXml(title)}</blti:title>
  <blti:custom>
${properties.join('')}  </blti:custom>
${outcome}  <blti:${urlElement}>${url}</blti:${urlElement}>
  <blti:vendor>
    <lticp:code>lectern</lticp:code>
    <lticp:name>Lectern</lticp:name>
  </blti:vendor>
</cartridge_basiclti_link>
`;
}

/**
 * Yields imsmanifest.xml: one folder with the links, which platforms show as a module or a section. Canvas reads only
 * "IMS Common Cartridge" as the schema, not the name of the thin profile.
 *
 * @param cartridge.id a UUID.
 */
export function* cartridgeManifest(
  cartridge: { id: string; title: string; language: string; version: CartridgeVersion },
  links: readonly Pick<CartridgeLink, 'lessonId' | 'title'>[],
): Generator<string> {
  const { namespace, metadata, linkType } = formats[cartridge.version];
  const title = escapeXml(cartridge.title);
  yield `<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="${manifestId('M', cartridge.id)}"
  xmlns="${namespace}"
  xmlns:lomimscc="${metadata}">
  <metadata>
    <schema>IMS Common Cartridge</schema>
    <schemaversion>${cartridge.version}.0</schemaversion>
    <lomimscc:lom>
      <lomimscc:general>
        <lomimscc:title>
          <lomimscc:string language="${escapeXml(cartridge.language)}">${title}</lomimscc:string>
        </lomimscc:title>
      </lomimscc:general>
    </lomimscc:lom>
  </metadata>
  <organizations>
    <organization identifier="O_1" structure="rooted-hierarchy">
      <item identifier="I_root">
        <item identifier="I_lessons">
          <title>${title}</title>
`;
  for (const link of links) {
    const identifier = manifestId('I', link.lessonId);
    yield `          <item identifier="${identifier}" identifierref="${manifestId('R', link.lessonId)}">
            <title>${escapeXml(link.title)}</title>
          </item>
`;
  }
  yield `        </item>
      </item>
    </organization>
  </organizations>
  <resources>
`;
  for (const link of links) {
    yield `    <resource identifier="${manifestId('R', link.lessonId)}" type="${linkType}">
      <file href="${linkPath(link)}"/>
    </resource>
`;
  }
  yield `  </resources>
</manifest>
`;
}
