import type { ConvertedLesson } from '../converted-lesson.ts';
import type { Converter, ElementRule } from '../converter.ts';
import { sectionsOf } from '../questions/question-steps.ts';
import { SourceFault } from '../source.ts';
import type { Source } from '../source.ts';
import { manifestName, readManifest } from './manifest.ts';
import { QtiPackage } from './package.ts';
import { elements12 } from './qti12-bank.ts';

/** The beginning of a file of QTI, after comments. */
const rootElement = /<(?:\w+:)?(?:questestinterop|(?:qti-)?assessment-?(?:item|test|section))[\s>]/i;
const maxManifestBytes = 8 * 1024 ** 2;

/** Elements of QTI 2 and 3, with the names of QTI 2. */
const elements: readonly ElementRule[] = [
  {
    element: 'assessmentTest',
    result: 'converted',
    becomes: 'the lesson; `partial` with time limits or feedback',
  },
  {
    element: 'assessmentSection',
    result: 'converted',
    becomes: 'a section; `partial` where it selects, orders or skips questions',
  },
  { element: 'assessmentStimulus', result: 'converted', becomes: '`Text` before the questions about it' },
  { element: 'assessmentItem', result: 'converted', becomes: '`Text`, if it has no interactions' },
  {
    element: 'choiceInteraction',
    result: 'converted',
    becomes: '`MultipleChoice` or `TrueFalse`; `partial` with points that Lectern does not give',
  },
  {
    element: 'textEntryInteraction',
    result: 'converted',
    becomes: 'a gap in `FillInTheBlanks`; `Numeric` if it is the only one and takes a number',
  },
  {
    element: 'inlineChoiceInteraction',
    result: 'converted',
    becomes: 'a gap in `FillInTheBlanks` with a word bank; `partial` beside other gaps',
  },
  { element: 'gapMatchInteraction', result: 'converted', becomes: '`FillInTheBlanks` with a word bank' },
  {
    element: 'matchInteraction',
    result: 'converted',
    becomes: '`Matching`; `partial` with several partners, as `MultipleChoice`',
  },
  { element: 'orderInteraction', result: 'converted', becomes: '`Ordering`' },
  { element: 'extendedTextInteraction', result: 'converted', becomes: '`OpenResponse`' },
  { element: 'hottextInteraction', result: 'partial', becomes: '`MultipleChoice` with the words as choices' },
  { element: 'associateInteraction', result: 'partial', becomes: '`Matching` with fixed sides' },
  { element: 'sliderInteraction', result: 'partial', becomes: '`Numeric`' },
  { element: 'uploadInteraction', result: 'partial', becomes: '`OpenResponse`' },
  { element: 'mediaInteraction', result: 'converted', becomes: '`Video` or `Audio`' },
  {
    element: 'other interactions',
    result: 'dropped',
    becomes: 'nothing: places in pictures, drawings and programs have no counterpart',
  },
  { element: 'file', result: 'converted', becomes: 'a media file; `dropped` if no block shows it' },
];

/** Reads the questions of QTI 1.2, 2.1, 2.2 and 3.0: single files, and packages with tests and media. */
const qti: Converter = {
  id: 'qti',
  title: 'QTI',
  elements: [...elements12, ...elements],

  async detect(source) {
    const text = await source.onlyText();
    if (text !== null) return rootElement.test(text.slice(0, 20_000));
    if (!source.has(manifestName)) return false;
    const manifest = (await source.bytes(manifestName, maxManifestBytes)).toString('utf8');
    return /["']imsqti_/.test(manifest) && !/<schema>[^<]*Common Cartridge/i.test(manifest);
  },

  async convert(source, job) {
    const questions = new QtiPackage(source, job);
    const info = source.has(manifestName)
      ? await readManifest(source)
      : { title: '', language: '', resources: new Map<string, never>() };
    if (source.has(manifestName)) {
      const resources = [...info.resources.values()];
      const named = resources.map((resource) => resource.path || (resource.files[0] ?? ''));
      const isTest = (index: number) => /test/.test(resources[index]?.type ?? '');
      const isQti = (index: number) => /^imsqti|^webcontent$/.test(resources[index]?.type ?? '');
      const tests = named.filter((_path, index) => isTest(index));
      const others = named.filter((_path, index) => !isTest(index) && isQti(index));
      for (const path of [...tests, ...others]) {
        if (source.has(path) && path.endsWith('.xml')) await questions.file(path);
      }
      reportMissing(
        source,
        named.filter((_path, index) => isTest(index) || isQti(index)),
        job.report,
      );
    } else await questions.file(source.onlyPath);
    questions.reportFiles();
    const title = (questions.title || info.title || source.title).slice(0, 200);
    const sections = sectionsOf(questions.categories, {
      title,
      questionsPerStep: job.options.questionsPerStep,
    });
    if (sections.length === 0) {
      const reasons = new Set(
        job.report.entries.flatMap(({ kind, reason }) => (kind === 'file' ? [] : (reason ?? []))),
      );
      const shown = [...reasons].slice(0, 3).join('; ');
      throw new SourceFault(
        `${source.name}: has no question that Lectern can show${shown === '' ? '' : `: ${shown}`}`,
      );
    }
    const language = /^[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}$/i.test(info.language) ? info.language : null;
    return {
      identity: null,
      lesson: { title, ...(language !== null && { language }) },
      sections,
    } satisfies ConvertedLesson;
  },
};
export default qti;

function reportMissing(
  source: Source,
  paths: readonly string[],
  report: Parameters<Converter['convert']>[1]['report'],
): void {
  for (const path of paths) {
    if (path === '' || source.has(path)) continue;
    report.add({ path, kind: 'file', title: path }, { result: 'dropped', losses: ['the file is missing'] });
  }
}
