import { manifestId } from '../../../shared/lms/ids.ts';
import { passShare } from '../../../shared/lms/package-options.ts';
import type { PackageOptions } from '../../../shared/lms/package-options.ts';
import type { LessonVersion } from '../../../shared/models/lesson-version.ts';
import { escapeXml, shortXml } from './xml.ts';

/** The content of a package, for its manifest. */
export interface PackageContents {
  version: Pick<LessonVersion, '_id' | 'lessonId' | 'title' | 'versionNumber'>;
  options: PackageOptions;
  /** All files of the package except the manifest itself. */
  paths: readonly string[];
  /** A BCP 47 tag. */
  language: string;
  /** Lectern's public URL, without a slash at the end; '' for formats that omit it. */
  publicUrl: string;
}

/** The maximum of the SCORM 1.2 schema, in characters. */
const maxTitle = 200;

/**
 * Yields imsmanifest.xml for SCORM 1.2. Platforms look for these prefixes, not for their namespaces, and take the first
 * resource for the lesson.
 */
export function* scorm12Manifest({ version, options, paths }: PackageContents): Generator<string> {
  const title = shortXml(version.title, maxTitle);
  yield `<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="${manifestId('M', version._id)}" version="${version.versionNumber}"
  xmlns="http://www.imsproject.org/xsd/imscp_rootv1p1p2"
  xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_rootv1p2"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="http://www.imsproject.org/xsd/imscp_rootv1p1p2 imscp_rootv1p1p2.xsd http://www.adlnet.org/xsd/adlcp_rootv1p2 adlcp_rootv1p2.xsd">
  <metadata>
    <schema>ADL SCORM</schema>
    <schemaversion>1.2</schemaversion>
  </metadata>
  <organizations default="O_1">
    <organization identifier="O_1">
      <title>${title}</title>
      <item identifier="I_1" identifierref="R_1" isvisible="true">
        <title>${title}</title>${options.passMark === null || !options.declaresPassMark ? '' : `\n        <adlcp:masteryscore>${options.passMark}</adlcp:masteryscore>`}
      </item>
    </organization>
  </organizations>
  <resources>
    <resource identifier="R_1" type="webcontent" adlcp:scormtype="sco" href="index.html">
`;
  yield* fileElements(paths);
  yield resourcesEnd;
}

const hiddenButtons = ['previous', 'continue', 'exit', 'exitAll', 'abandon', 'abandonAll', 'suspendAll'];

/**
 * Yields imsmanifest.xml for SCORM 2004, 4th edition. The package sets completion and success itself: without the
 * delivery controls, some platforms complete a lesson when it is closed. Some read the threshold as an attribute, some
 * as text.
 */
export function* scorm2004Manifest({ version, options, paths }: PackageContents): Generator<string> {
  const title = shortXml(version.title, maxTitle);
  const share = passShare(options);
  const objectives =
    share === null
      ? ''
      : `
          <imsss:objectives>
            <imsss:primaryObjective objectiveID="PRIMARY" satisfiedByMeasure="true">
              <imsss:minNormalizedMeasure>${share}</imsss:minNormalizedMeasure>
            </imsss:primaryObjective>
          </imsss:objectives>`;
  yield `<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier="${manifestId('M', version._id)}" version="${version.versionNumber}"
  xmlns="http://www.imsglobal.org/xsd/imscp_v1p1"
  xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_v1p3"
  xmlns:adlseq="http://www.adlnet.org/xsd/adlseq_v1p3"
  xmlns:adlnav="http://www.adlnet.org/xsd/adlnav_v1p3"
  xmlns:imsss="http://www.imsglobal.org/xsd/imsss"
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="http://www.imsglobal.org/xsd/imscp_v1p1 imscp_v1p1.xsd http://www.adlnet.org/xsd/adlcp_v1p3 adlcp_v1p3.xsd http://www.adlnet.org/xsd/adlseq_v1p3 adlseq_v1p3.xsd http://www.adlnet.org/xsd/adlnav_v1p3 adlnav_v1p3.xsd http://www.imsglobal.org/xsd/imsss imsss_v1p0.xsd">
  <metadata>
    <schema>ADL SCORM</schema>
    <schemaversion>2004 4th Edition</schemaversion>
  </metadata>
  <organizations default="O_1">
    <organization identifier="O_1" adlseq:objectivesGlobalToSystem="false">
      <title>${title}</title>
      <item identifier="I_1" identifierref="R_1">
        <title>${title}</title>
        <adlcp:completionThreshold completedByMeasure="false" minProgressMeasure="1.0">1.0</adlcp:completionThreshold>
        <imsss:sequencing>${objectives}
          <imsss:deliveryControls completionSetByContent="true" objectiveSetByContent="true"/>
        </imsss:sequencing>
        <adlnav:presentation>
          <adlnav:navigationInterface>
${hiddenButtons.map((name) => `            <adlnav:hideLMSUI>${name}</adlnav:hideLMSUI>`).join('\n')}
          </adlnav:navigationInterface>
        </adlnav:presentation>
      </item>
      <imsss:sequencing>
        <imsss:controlMode choice="true" flow="true"/>
      </imsss:sequencing>
    </organization>
  </organizations>
  <resources>
    <resource identifier="R_1" type="webcontent" adlcp:scormType="sco" href="index.html">
`;
  yield* fileElements(paths);
  yield resourcesEnd;
}

const resourcesEnd = `    </resource>
  </resources>
</manifest>
`;

function* fileElements(paths: readonly string[]): Generator<string> {
  for (const path of paths) yield `      <file href="${escapeXml(path)}"/>\n`;
}
