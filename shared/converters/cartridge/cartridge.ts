import type { ConvertedLesson, ConvertedSection } from '../converted-lesson.ts';
import type { Converter } from '../converter.ts';
import { SourceFault } from '../source.ts';
import { manifestName, readManifest } from '../qti/manifest.ts';
import { CartridgeCourse } from './course.ts';

const maxManifestBytes = 8 * 1024 ** 2;
const maxTitleLength = 200;

/** Reads Common Cartridges 1.0 to 1.3 and the exports of Canvas. */
const cartridge: Converter = {
  id: 'cartridge',
  title: 'Common Cartridge and Canvas',
  elements: [
    { element: 'module', result: 'converted', becomes: 'a section; a folder in a module becomes part of it' },
    {
      element: 'page',
      result: 'converted',
      becomes:
        'a step of `Text`, `Heading`, `Image`, `Video` and `Audio`; `partial` with links to other pages, or programs',
    },
    { element: 'quiz', result: 'converted', becomes: 'steps of its questions: see [QTI](qti.md)' },
    { element: 'link', result: 'converted', becomes: 'a step with the link' },
    {
      element: 'document',
      result: 'converted',
      becomes: 'a step with the picture, video or recording, or a link to the file',
    },
    {
      element: 'assignment',
      result: 'partial',
      becomes: 'a step with its text; learners cannot hand in work',
    },
    {
      element: 'discussion',
      result: 'partial',
      becomes: 'a step with its text; learners cannot answer each other',
    },
    { element: 'heading', result: 'converted', becomes: '`Heading` before the next step' },
    {
      element: 'tool',
      result: 'dropped',
      becomes: 'nothing: the tool of another server (LTI) needs a registration',
    },
    {
      element: 'file',
      result: 'converted',
      becomes: 'a media file; `dropped` if no block shows it, as settings of the course',
    },
  ],

  async detect(source) {
    if (!source.has(manifestName)) return false;
    const manifest = (await source.bytes(manifestName, maxManifestBytes)).toString('utf8');
    return /<schema>[^<]*Common Cartridge|\/imscc(?:v1p\d|_xmlv1p\d)/i.test(manifest);
  },

  async convert(source, job) {
    const manifest = await readManifest(source);
    const course = new CartridgeCourse(source, manifest, job);
    const modules = await course.modules();
    const { module } = job.options;
    const title = (manifest.title || source.title).slice(0, maxTitleLength);
    const chosen = module === null ? modules : modules.slice(module - 1, module);
    if (module !== null && chosen.length === 0) {
      const names = modules.map((one, index) => `${index + 1} ${one.title || title}`).join(', ');
      throw new SourceFault(
        `${source.name}: has no module ${module}, but ${modules.length}: ${names.slice(0, 500)}`,
      );
    }
    const sections: ConvertedSection[] = [];
    for (const one of chosen) {
      const steps = await course.convert(one);
      const name = (one.title || title).slice(0, 400);
      if (steps.length > 0) sections.push({ title: name, steps });
    }
    course.reportFiles();
    if (sections.length === 0) {
      const reasons = new Set(
        job.report.entries.flatMap(({ kind, reason }) => (kind === 'file' ? [] : (reason ?? []))),
      );
      const shown = [...reasons].slice(0, 3).join('; ');
      throw new SourceFault(
        `${source.name}: has no page or quiz that Lectern can show${shown === '' ? '' : `: ${shown}`}`,
      );
    }
    const [only] = chosen;
    const isPart = module !== null && only !== undefined && only.title !== '';
    const { language } = manifest;
    return {
      identity: null,
      ...(module !== null && { part: String(module) }),
      lesson: {
        title: isPart ? only.title.slice(0, maxTitleLength) : title,
        ...(/^[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}$/i.test(language) && { language }),
      },
      sections,
    } satisfies ConvertedLesson;
  },
};
export default cartridge;
