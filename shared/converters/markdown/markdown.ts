import { posix } from 'node:path';
import type { Heading, RootContent } from 'mdast';
import { ElementCount } from '../../lessons/html-media.ts';
import type { ConvertedLesson, ConvertedSection, ConvertedStep } from '../converted-lesson.ts';
import type { Converter, ConversionJob } from '../converter.ts';
import type { Source } from '../source.ts';
import { unknownAttribute } from './attributes.ts';
import { BlockReader, plainText } from './blocks.ts';
import { creditsOf, metaOf, readFrontMatter } from './front-matter.ts';
import type { FrontMatter } from './front-matter.ts';
import { splitInline } from './questions.ts';
import { TextFile } from './text-file.ts';

const extension = /\.(?:md|markdown)$/i;

/** Reads lessons that people write: GitHub Flavored Markdown with formulas, directives and front matter. */
const markdown: Converter = {
  id: 'markdown',
  title: 'Markdown',
  elements: [
    { element: 'block', result: 'converted', becomes: 'the block, or its file and line in a fault' },
  ],

  async detect(source) {
    if (textsIn(source).length > 0) return true;
    const text = await source.onlyText();
    return text !== null && /^(?:---\n[^]*?\n---\n|#{1,2} \S)/.test(text);
  },

  async convert(source, job) {
    const paths = textsIn(source);
    const reader = new LessonReader(source, job);
    for (const path of paths.length > 0 ? paths : [source.onlyPath]) await reader.read(path);
    return reader.end();
  },
};
export default markdown;

/** Returns the texts of a lesson, in the order of their paths. A README is one only if it is alone. */
function textsIn(source: Source): string[] {
  const found = source.files.map(({ path }) => path).filter((path) => extension.test(path));
  const lessons = found.filter((path) => !/^readme\./i.test(posix.basename(path)));
  return lessons.length > 0 ? lessons : found;
}

class LessonReader {
  readonly #source: Source;
  readonly #job: ConversionJob;
  readonly #elements = new ElementCount();
  readonly #sections: ConvertedSection[] = [];
  readonly #ids = { section: new Map<string, string>(), step: new Map<string, string>() };
  #front: FrontMatter | null = null;

  constructor(source: Source, job: ConversionJob) {
    this.#source = source;
    this.#job = job;
  }

  async read(path: string): Promise<void> {
    const file = new TextFile(path, await this.#source.text(path), this.#job, this.#elements);
    const { children } = file.parsed.root;
    const [first] = children;
    const front = first?.type === 'yaml' ? this.#frontMatter(first.value, path) : {};
    this.#front ??= front;
    let pending: RootContent[] = [];
    for (const node of children) {
      if (node.type !== 'heading' || node.depth > 2) {
        pending.push(node);
        continue;
      }
      this.#addBlocks(pending, file);
      pending = [];
      this.#begin(node, file);
    }
    this.#addBlocks(pending, file);
  }

  #frontMatter(yaml: string, path: string): FrontMatter {
    return readFrontMatter(yaml, (line, text) => this.#job.faults.add(`${path}:${line + 1}`, text));
  }

  /** Begins a section or a step. */
  #begin(node: Heading, file: TextFile): void {
    const { children, attributes } = splitInline(node);
    const kind = node.depth === 1 ? 'section' : 'step';
    const { id, ...others } = attributes ?? {};
    for (const name of Object.keys(others)) file.fault(node, unknownAttribute(name, `a ${kind}`, ['id']));
    if (id !== undefined) {
      const twin = this.#ids[kind].get(id);
      if (twin !== undefined) file.fault(node, `the ${kind} at ${twin} has the id ${id}, too`);
      else this.#ids[kind].set(id, file.placeOf(node));
    }
    const part = { title: plainText(children, file), ...(id !== undefined && { id }) };
    if (kind === 'section') this.#sections.push({ ...part, steps: [] });
    else this.#section().steps.push({ ...part, blocks: [] });
  }

  #addBlocks(nodes: readonly RootContent[], file: TextFile): void {
    const blocks = new BlockReader(file).read(nodes);
    if (blocks.length > 0) this.#step().blocks.push(...blocks);
  }

  #section(): ConvertedSection {
    const last = this.#sections.at(-1);
    if (last !== undefined) return last;
    const section = { title: this.#front?.title ?? this.#source.title, steps: [] };
    this.#sections.push(section);
    return section;
  }

  /** Blocks before the first step of a section are a step with its title. */
  #step(): ConvertedStep {
    const section = this.#section();
    const last = section.steps.at(-1);
    if (last !== undefined) return last;
    const step = { title: section.title, blocks: [] };
    section.steps.push(step);
    return step;
  }

  end(): ConvertedLesson {
    const front = this.#front ?? {};
    const lesson = metaOf(front, this.#source.title);
    const { cover } = lesson as { cover?: { image?: string } };
    if (cover?.image !== undefined) cover.image = this.#coverImage(cover.image);
    for (const medium of this.#job.media.all) {
      if ('path' in medium.origin)
        this.#job.media.file(medium.origin.path, creditsOf(front.credits, medium.origin.path));
    }
    return {
      identity: front.slug ?? lesson.title,
      ...(front.id !== undefined && { lessonId: front.id }),
      ...{ lesson, sections: this.#sections },
    };
  }

  #coverImage(path: string): string {
    if (/^[a-z][a-z0-9+.-]*:/i.test(path)) return path;
    const reference = this.#job.media.file(posix.normalize(path));
    if (reference === null)
      this.#job.faults.add(`${this.#source.name}:1`, `cover.image: ${path} is not in the folder`);
    return reference ?? path;
  }
}
