import { posix } from 'node:path';
import type { ConversionJob } from '../converter.ts';
import type { Category } from '../questions/question-steps.ts';
import type { ConvertedBlock } from '../converted-lesson.ts';
import { hasText } from '../questions/question-blocks.ts';
import type { Source } from '../source.ts';
import { childOf, childrenOf, textIn } from '../xml.ts';
import type { XmlElement } from '../xml.ts';
import { convertItem, titleOf } from './convert-item.ts';
import type { ConvertedItem } from './convert-item.ts';
import { pathFrom } from './files.ts';
import { ItemBody } from './item-body.ts';
import type { QtiItem } from './item.ts';
import { interactionsIn, parseQti, readItem } from './read-item.ts';
import { importedHtml } from './imported-html.ts';
import { assessmentsIn } from './qti12-bank.ts';
import { Texts12 } from './qti12-texts.ts';

/** Converts the files of a QTI package, each once. */
export class QtiPackage {
  readonly categories: Category[] = [];
  title = '';
  readonly #source: Source;
  readonly #job: ConversionJob;
  /** The files that have been read. */
  readonly #read = new Set<string>();
  #stimulus = '';

  constructor(source: Source, job: ConversionJob) {
    this.#source = source;
    this.#job = job;
  }

  /**
   * Converts a file that has not been read: a test, items, or questions of QTI 1.2. Ignores other files.
   *
   * @param quizPath the file with the description of a quiz, as Canvas writes it
   */
  async file(path: string, quizPath = posix.join(posix.dirname(path), quizFile)): Promise<void> {
    if (this.#read.has(path)) return;
    const root = await this.#parse(path);
    switch (root.name) {
      case 'assessmentTest':
        return this.#test(root, path);
      case 'assessmentSection':
        return this.#section(root, path);
      case 'assessmentItem':
        if (this.categories.length === 0) this.categories.push({ title: '', blocks: [] });
        return this.#item(root, path);
      case 'questestinterop':
        return this.#bank(root, path, quizPath);
      default:
        this.#read.delete(path);
    }
  }

  /** Reports the files that are neither items nor shown by them. */
  reportFiles(others: ReadonlySet<string> = new Set()): void {
    const used = new Set(this.#job.media.all.flatMap(({ origin }) => ('path' in origin ? origin.path : [])));
    for (const { path } of this.#source.files) {
      if (this.#read.has(path) || others.has(path) || path === 'imsmanifest.xml') continue;
      const element = { path, kind: 'file', title: posix.basename(path) };
      if (used.has(path)) this.#job.report.add(element, {});
      else this.#job.report.add(element, { result: 'dropped', losses: ['no block shows it'] });
    }
  }

  async #parse(path: string): Promise<XmlElement> {
    this.#read.add(path);
    return parseQti(await this.#source.text(path), path);
  }

  /** Reads a file that another one names. Returns null, and reports it, if it is missing. */
  async #referred(base: string, element: XmlElement): Promise<{ root: XmlElement; path: string } | null> {
    const { href = '', identifier = '' } = element.attributes;
    const path = pathFrom(base, href);
    if (path !== null && this.#source.has(path)) {
      return this.#read.has(path) ? null : { root: await this.#parse(path), path };
    }
    this.#job.report.add(
      { path: `${base}:${element.line}`, kind: element.name, title: identifier },
      { result: 'dropped', losses: [`the file ${href} is missing`] },
    );
    return null;
  }

  async #test(root: XmlElement, path: string): Promise<void> {
    const title = root.attributes.title ?? '';
    this.title ||= title;
    const losses = lostNames(root, {
      timeLimits: 'its time limit is left out',
      testFeedback: 'feedback for the whole test is left out',
    });
    this.#job.report.add({ path, kind: 'assessmentTest', title }, { losses });
    for (const part of childrenOf(root, 'testPart')) {
      for (const child of part.children) await this.#partOfTest(child, path);
    }
  }

  async #section(root: XmlElement, path: string): Promise<void> {
    const title = root.attributes.title ?? '';
    const selected = Number(childOf(root, 'selection')?.attributes.select);
    const refs = root.children.filter(({ name }) => /^assessment(?:Item|Section)/.test(name)).length;
    const losses = lostNames(root, {
      ...(selected < refs && { selection: 'all its questions are asked, not a selection' }),
      ordering: 'its questions have a fixed order',
      timeLimits: 'its time limit is left out',
      preCondition: 'its conditions are left out',
      branchRule: 'its conditions are left out',
    });
    this.#job.report.add({ path: `${path}:${root.line}`, kind: 'assessmentSection', title }, { losses });
    const blocks = childrenOf(root, 'rubricBlock').flatMap((rubric) => this.#text(rubric, path));
    this.categories.push({ title, blocks });
    for (const child of root.children) await this.#partOfTest(child, path);
  }

  async #partOfTest(element: XmlElement, path: string): Promise<void> {
    if (element.name === 'assessmentSection') return this.#section(element, path);
    if (!/^assessment(?:Item|Section)Ref$/.test(element.name)) return;
    const found = await this.#referred(path, element);
    if (found === null) return;
    if (found.root.name === 'assessmentSection') return this.#section(found.root, found.path);
    if (this.categories.length === 0) this.categories.push({ title: '', blocks: [] });
    return this.#item(found.root, found.path);
  }

  /** Returns the text of an element as blocks. */
  #text(element: XmlElement, path: string): ConvertedBlock[] {
    const body = new ItemBody(path, this.#job.media);
    return body
      .parts(element, { interaction: () => null, isInline: () => false })
      .flatMap((part) =>
        part.kind === 'block'
          ? part.block
          : part.kind === 'html' && hasText(part.html)
            ? { type: 'Text', props: { html: part.html } }
            : [],
      );
  }

  async #item(root: XmlElement, path: string): Promise<void> {
    const passages: ConvertedBlock[] = [];
    for (const reference of childrenOf(root, 'assessmentStimulusRef')) {
      passages.push(...(await this.#passage(reference, path)));
    }
    const count = interactionsIn(root).length;
    const item = readItem(root, path, this.#job.media);
    const { outcomes } = this.add(item, path, passages);
    if (outcomes.length !== count)
      throw new Error(`${path}: read ${outcomes.length} of ${count} interactions`);
  }

  /** Adds an item of any version, and reports its interactions. */
  add(item: QtiItem, path: string, passages: ConvertedBlock[] = []): ConvertedItem {
    const converted = convertItem(item);
    const { blocks, outcomes } = converted;
    const { report } = this.#job;
    if (blocks.length > 0) this.categories.at(-1)?.blocks.push([...passages, ...blocks]);
    if (item.kind !== null || outcomes.length === 0) {
      this.#reportItem(item, path, converted);
      return converted;
    }
    for (const { interaction, block, losses } of outcomes) {
      const element = {
        path: interaction.path,
        kind: interaction.element,
        title: titleOf(item, interaction),
      };
      report.add(element, {
        ...{ losses: [...new Set(losses)], block },
        ...(block === null && { result: 'dropped' as const }),
      });
    }
    return converted;
  }

  /** Reads the file beside a quiz in which Canvas has its description. */
  async #quiz(path: string, file: string): Promise<{ title: string; blocks: ConvertedBlock[] }> {
    if (!this.#source.has(file) || this.#read.has(file)) return { title: '', blocks: [] };
    const root = await this.#parse(file);
    if (root.name !== 'quiz') {
      this.#read.delete(file);
      return { title: '', blocks: [] };
    }
    const title = textIn(root, 'title');
    const texts = new Texts12(path, this.#job.media);
    const html = importedHtml(textIn(root, 'description'), texts);
    const blocks = html === '' ? [] : [{ type: 'Text', props: { html } }];
    const isTimed = quizSettings.test(await this.#source.text(file));
    const losses = [...texts.losses, ...(isTimed ? ['times and limits are left out'] : [])];
    this.#job.report.add({ path: file, kind: 'quiz', title }, { losses, block: blocks[0] ?? null });
    return { title, blocks };
  }

  /** Reports an item as one element. */
  #reportItem(item: QtiItem, path: string, { blocks, outcomes }: ConvertedItem): void {
    const block = outcomes.find((outcome) => outcome.block !== null)?.block ?? blocks[0] ?? null;
    const losses = new Set(outcomes.flatMap((outcome) => outcome.losses));
    if (outcomes.length === 0) for (const loss of item.losses) losses.add(loss);
    if (outcomes.length === 0 && item.refusal !== null) losses.add(item.refusal);
    if (block === null && losses.size === 0) losses.add('it is empty');
    this.#job.report.add(
      { path, kind: item.kind ?? 'assessmentItem', title: item.title },
      { losses: [...losses], block, ...(block === null && { result: 'dropped' as const }) },
    );
  }

  /** Returns a text that items share. Questions that follow each other show it once. */
  async #passage(reference: XmlElement, base: string): Promise<ConvertedBlock[]> {
    const path = pathFrom(base, reference.attributes.href ?? '');
    if (path === null || !this.#source.has(path) || path === this.#stimulus) return [];
    this.#stimulus = path;
    const isFirst = !this.#read.has(path);
    const root = await this.#parse(path);
    const blocks = this.#text(childOf(root, 'stimulusBody') ?? root, path);
    const [block = null] = blocks;
    const element = { path, kind: 'assessmentStimulus', title: root.attributes.title ?? '' };
    if (isFirst) this.#job.report.add(element, { block });
    return blocks;
  }

  async #bank(root: XmlElement, path: string, quizPath: string): Promise<void> {
    const quiz = await this.#quiz(path, quizPath);
    for (const { title: own, sections } of assessmentsIn(root, path, this.#job.media)) {
      const title = own || quiz.title;
      this.title ||= title;
      for (const section of sections) {
        this.#job.report.add(
          { path: `${path}:${section.line}`, kind: 'section', title: section.title || title },
          { losses: section.losses },
        );
        const blocks = section === sections[0] ? quiz.blocks : [];
        this.categories.push({ title: section.title || title, blocks });
        for (const item of section.items) this.add(item, `${path}:${item.line}`);
      }
    }
  }
}

const quizFile = 'assessment_meta.xml';
/** Settings that Lectern has no counterpart of, with the values that change nothing. */
const quizSettings = /<(?:time_limit|lock_at|unlock_at|due_at|access_code|ip_filter)>[^<]+</;

/** Returns what is lost with the children of an element, by their names. */
function lostNames(element: XmlElement, losses: Record<string, string>): string[] {
  return [
    ...new Set(
      element.children.flatMap(({ name, attributes }) =>
        Object.hasOwn(losses, name) && attributes.shuffle !== 'false' ? (losses[name] ?? []) : [],
      ),
    ),
  ];
}
