import { passShare } from '../../../shared/lms/package-options.ts';
import type { PackageOptions } from '../../../shared/lms/package-options.ts';
import type { PackageContents } from './ims-manifest.ts';
import { escapeXml } from './xml.ts';

/** The only language tags that the schema allows. */
const languageTag = /^[a-z]{1,8}(-[a-z\d]{1,8})*$/i;

/**
 * Yields cmi5.xml: a course with one assignable unit. Its ids are the same in every version, so that gradebooks keep one
 * column. Some importers reject an empty description.
 */
export function* cmi5Structure({
  version,
  options,
  language,
  publicUrl,
}: PackageContents): Generator<string> {
  const id = escapeXml(`${publicUrl}/xapi/lessons/${version.lessonId}`);
  const lang = languageTag.test(language) ? language : 'und';
  const text = `<langstring lang="${lang}">${escapeXml(version.title)}</langstring>`;
  const share = passShare(options);
  const mastery = share === null ? '' : ` masteryScore="${share}"`;
  yield `<?xml version="1.0" encoding="UTF-8"?>
<courseStructure xmlns="https://w3id.org/xapi/profiles/cmi5/v1/CourseStructure.xsd">
  <course id="${id}">
    <title>${text}</title>
    <description>${text}</description>
  </course>
  <au id="${id}/au" moveOn="${moveOnOf(options)}"${mastery} launchMethod="AnyWindow" activityType="http://adlnet.gov/expapi/activities/lesson">
    <title>${text}</title>
    <description>${text}</description>
    <url>index.html</url>
  </au>
</courseStructure>
`;
}

function moveOnOf({ completion, passMark }: PackageOptions): string {
  if (completion === 'passed') return 'Passed';
  return passMark === null ? 'CompletedOrPassed' : 'CompletedAndPassed';
}
