import { recordOf } from '../../lessons/json-values.ts';
import { findJsonFault } from '../../lessons/json-syntax.ts';
import type { ConvertedLesson, ConvertedSection } from '../converted-lesson.ts';
import type { Converter } from '../converter.ts';
import { escapeHtml } from '../questions/question-blocks.ts';
import { SourceFault } from '../source.ts';
import type { Source } from '../source.ts';
import { convertContent } from './contents.ts';
import type { Conversion, H5pContent } from './contents.ts';
import type { Credit } from './credits.ts';
import { contentFile, reportElements } from './elements.ts';
import { linkHtml, plainOf } from './texts.ts';
import { contentTypes } from './types.ts';

const packageFile = 'h5p.json';

const maxTitleLength = 200;

/** Reads H5P: the contents become blocks. Neither the programs in the package nor those of H5P are needed. */
const h5p: Converter = {
  id: 'h5p',
  title: 'H5P',
  elements: [
    ...contentTypes.map(({ element, result, becomes }) => ({ element, result, becomes })),
    { element: 'any other type', result: 'dropped', becomes: 'nothing yet: Lectern has no counterpart' },
    { element: 'file', result: 'converted', becomes: 'a media file; `dropped` if no block shows it' },
  ],

  detect: (source) => Promise.resolve(source.has(packageFile)),

  async convert(source, job) {
    const info = recordOf(await readJson(source, packageFile));
    const params = recordOf(await readJson(source, contentFile));
    const library = typeof info.mainLibrary === 'string' ? info.mainLibrary.trim() : '';
    if (library === '')
      throw new SourceFault(`${packageFile}: mainLibrary is missing, the type of the content`);
    const title = plainOf(info.title).slice(0, maxTitleLength) || source.title;
    const whole = { library, params, metadata: { ...info, title } };
    const conversion: Conversion = {
      types: new Map(contentTypes.map((type) => [type.element, type])),
      ...{
        media: job.media,
        options: job.options,
        contents: new Map(),
        claimed: new Set(),
        files: new Map(),
      },
    };
    const content = convertContent(whole, null, conversion);
    const sections = sectionsOf(content, title);
    reportElements(whole, source, job.report, conversion);
    if (sections.length === 0) {
      throw new SourceFault(
        `${source.name}: has nothing that Lectern can show: ${content.losses.join('; ') || 'it is empty'}`,
      );
    }
    addCredits(sections, [...conversion.contents.values()]);
    const language = languageOf(info);
    return {
      identity: null,
      lesson: { title, ...(language !== null && { language }) },
      sections,
    } satisfies ConvertedLesson;
  },
};
export default h5p;

/** @throws {SourceFault} with the place of the fault */
async function readJson(source: Source, path: string): Promise<unknown> {
  if (!source.has(path)) throw new SourceFault(`${path}: is not in the package`);
  const text = (await source.text(path)).replace(/^\uFEFF/, '');
  const fault = findJsonFault(text);
  if (fault !== undefined) {
    throw new SourceFault(`${path}: line ${fault.line}, column ${fault.column}: ${fault.message}`);
  }
  return JSON.parse(text);
}

/** Returns the language of the content; null if unknown: `und`. */
function languageOf(info: Record<string, unknown>): string | null {
  const tags = [info.language, info.defaultLanguage].map(plainOf);
  return tags.find((tag) => tag !== 'und' && /^[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}$/i.test(tag)) ?? null;
}

/** Returns the sections of the lesson, without empty ones. */
function sectionsOf({ blocks, pages }: H5pContent, title: string): ConvertedSection[] {
  const whole = [{ title, blocks: blocks ?? [] }];
  const steps = (pages?.pages ?? whole)
    .filter((page) => page.blocks.length > 0)
    .map((page) => ({ ...page, title: page.title.slice(0, maxTitleLength) }));
  if (steps.length === 0) return [];
  return pages?.as === 'sections'
    ? steps.map((step) => ({ title: step.title, steps: [step] }))
    : [{ title, steps }];
}

/** Adds the credits that no media file has, at the end of the lesson. */
function addCredits(sections: readonly ConvertedSection[], contents: readonly H5pContent[]): void {
  const credits = new Set(contents.flatMap(({ credit }) => (credit === null ? [] : creditHtml(credit))));
  const block = { type: 'Text', props: { html: [...credits].join('') } };
  if (credits.size > 0) sections.at(-1)?.steps.at(-1)?.blocks.push(block);
}

function creditHtml({ text, sourceUrl, licenseUrl }: Credit): string {
  const shown = sourceUrl === '' ? escapeHtml(text) : linkHtml(sourceUrl, text);
  const license = licenseUrl === '' ? '' : ` (${linkHtml(licenseUrl, licenseUrl)})`;
  return `<p><small>${shown}${license}</small></p>`;
}
