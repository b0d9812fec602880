import { posix } from 'node:path';
import type { ConversionJob } from '../converter.ts';
import type { ConvertedBlock, ConvertedStep } from '../converted-lesson.ts';
import { escapeHtml } from '../questions/question-blocks.ts';
import { sectionsOf } from '../questions/question-steps.ts';
import { embeddedMedium, pathFrom } from '../qti/files.ts';
import { importedHtml } from '../qti/imported-html.ts';
import type { HtmlFiles } from '../qti/imported-html.ts';
import type { Manifest, ManifestItem, Resource } from '../qti/manifest.ts';
import { manifestName } from '../qti/manifest.ts';
import { QtiPackage } from '../qti/package.ts';
import type { Source } from '../source.ts';
import { childOf, parseXml, textIn } from '../xml.ts';
import type { XmlElement } from '../xml.ts';
import { pageBlocks } from './page-blocks.ts';

/** A module of a course; '' as the title of what is in no module. */
export interface Module {
  title: string;
  line: number | null;
  entries: Entry[];
}

/** A page, quiz or other part of a module. */
interface Entry {
  title: string;
  /** Of the manifest; that of the resource without an item. */
  line: number;
  resource: Resource | null;
  isFolder: boolean;
}

const page = /\.(?:x?html?)$/i;
const picture = /\.(?:png|jpe?g|gif|webp|avif|svg|bmp)$/i;
const video = /\.(?:mp4|m4v|webm|og[gv]|mov)$/i;
const audio = /\.(?:mp3|m4a|og[ga]|opus|wav|aac|flac)$/i;

/** The parts of a Common Cartridge, in the order of its modules. */
export class CartridgeCourse {
  readonly #source: Source;
  readonly #manifest: Manifest;
  readonly #job: ConversionJob;
  readonly #questions: QtiPackage;
  /** The files that elements have been made of. */
  readonly #read = new Set<string>([manifestName]);
  /** A heading before the next step. */
  #heading: ConvertedBlock[] = [];

  constructor(source: Source, manifest: Manifest, job: ConversionJob) {
    this.#source = source;
    this.#manifest = manifest;
    this.#job = job;
    this.#questions = new QtiPackage(source, job);
  }

  /** Returns the modules, and then what is in none: pages, quizzes, assignments and discussions. */
  async modules(): Promise<Module[]> {
    const { items, resources } = this.#manifest;
    const [root] = items;
    const isWrapped = items.length === 1 && root !== undefined && root.resource === '' && root.title === '';
    const top = isWrapped ? root.items : items;
    const modules: Module[] = [];
    const loose: Entry[] = [];
    for (const item of top) {
      if (item.resource === '' && item.items.length > 0) {
        modules.push({
          title: item.title,
          line: item.line,
          entries: item.items.flatMap((one) => this.#entries(one)),
        });
      } else loose.push(...this.#entries(item));
    }
    const used = new Set<Resource | null>(
      [...modules.flatMap(({ entries }) => entries), ...loose].map((one) => one.resource),
    );
    for (const resource of resources.values()) {
      if (used.has(resource) || !(await this.#isContent(resource))) continue;
      loose.push({ title: '', line: resource.line, resource, isFolder: false });
    }
    if (loose.length > 0) modules.push({ title: '', line: null, entries: loose });
    return modules;
  }

  #entries(item: ManifestItem): Entry[] {
    const resource = this.#manifest.resources.get(item.resource) ?? null;
    const isFolder = item.resource === '';
    return [
      { title: item.title, line: item.line, resource, isFolder },
      ...item.items.flatMap((one) => this.#entries(one)),
    ];
  }

  /** Returns whether learners saw a resource that no module has. */
  async #isContent(resource: Resource): Promise<boolean> {
    const { type, path } = resource;
    if (/^(?:imsqti|imsdt|imswl|assignment_)/.test(type)) return true;
    if (!page.test(path) || !this.#source.has(path)) return false;
    if (
      path.startsWith('wiki_content/') ||
      resource.files.some((file) => /assignment_settings\.xml$/.test(file))
    )
      return true;
    return (
      path === 'course_settings/syllabus.html' && pageBlocks(await this.#source.text(path), silent).length > 0
    );
  }

  /** Converts a module, and reports it and its parts. */
  async convert({ title, line, entries }: Module): Promise<ConvertedStep[]> {
    if (line !== null) this.#report(line, 'module', title, {});
    const steps: ConvertedStep[] = [];
    for (const entry of entries) {
      const made = await this.#entry(entry);
      const [first] = made;
      if (first !== undefined) first.blocks.unshift(...this.#heading.splice(0));
      steps.push(...made);
    }
    this.#heading = [];
    return steps;
  }

  /** Reports the files that no element was made of. */
  reportFiles(): void {
    this.#questions.reportFiles(this.#read);
  }

  #report(
    line: number,
    kind: string,
    title: string,
    how: Parameters<ConversionJob['report']['add']>[1],
  ): void {
    this.#job.report.add({ path: `${manifestName}:${line}`, kind, title }, how);
  }

  async #entry(entry: Entry): Promise<ConvertedStep[]> {
    const { title, line, resource, isFolder } = entry;
    if (isFolder) {
      const heading = { type: 'Heading', props: { text: title, level: 2 } };
      if (title !== '') this.#heading.push(heading);
      this.#report(line, 'heading', title, { block: heading });
      return [];
    }
    if (resource === null) return this.#drop(entry, 'item', 'the manifest does not have its resource');
    const { type, path, url } = resource;
    if (/^imsqti/.test(type)) return this.#quiz(entry, resource);
    if (/^imsbasiclti|^imsblti/.test(type)) {
      return this.#drop(entry, 'tool', 'the tool of another server needs a registration');
    }
    if (url !== '') return this.#link(entry, title, url);
    const file = path || (resource.files[0] ?? '');
    if (file === '' || !this.#source.has(file))
      return this.#drop(entry, 'item', `the file ${file} is missing`);
    if (/^(?:imsdt|imswl|assignment_)/.test(type)) return this.#xml(entry, file);
    if (page.test(file)) return this.#page(entry, resource, file);
    return this.#document(entry, file);
  }

  #drop({ title, line }: Entry, kind: string, reason: string): [] {
    this.#report(line, kind, title, { result: 'dropped', losses: [reason] });
    return [];
  }

  #link(entry: Entry, title: string, url: string): ConvertedStep[] {
    if (!/^https?:\/\//i.test(url)) return this.#drop(entry, 'link', `it leads to ${url.slice(0, 100)}`);
    const shown = title || url;
    const html = `<p><a href="${escapeHtml(url).replaceAll('"', '&quot;')}">${escapeHtml(shown)}</a></p>`;
    const block = { type: 'Text', props: { html } };
    this.#report(entry.line, 'link', shown, { block });
    return [{ title: shown, blocks: [block] }];
  }

  async #page(entry: Entry, { files }: Resource, path: string): Promise<ConvertedStep[]> {
    const html = await this.#source.text(path);
    this.#read.add(path);
    const isAssignment = files.some((file) => /assignment_settings\.xml$/.test(file));
    for (const file of isAssignment ? files : []) this.#read.add(file);
    const [, written = ''] = /<title>([^<]*)<\/title>/i.exec(html) ?? [];
    const title =
      entry.title || importedHtml(written, silent).replace(/^Assignment:\s*/, '') || posix.basename(path);
    return this.#texts(entry, isAssignment ? 'assignment' : 'page', title, html, path);
  }

  #texts(
    entry: Entry,
    kind: 'page' | 'assignment' | 'discussion',
    title: string,
    html: string,
    path: string,
  ): ConvertedStep[] {
    const files = new CourseFiles(path, this.#source, this.#job);
    const blocks = pageBlocks(html, files);
    const lost = {
      page: [],
      assignment: ['learners cannot hand in work'],
      discussion: ['learners cannot answer each other'],
    }[kind];
    const losses = [...lost, ...files.losses];
    const [block = null] = blocks;
    if (block === null && kind === 'page') {
      this.#report(entry.line, kind, title, { losses });
      return [{ title, blocks: [] }];
    }
    if (block === null) {
      this.#report(entry.line, kind, title, { result: 'dropped', losses: ['it is empty'] });
      return [];
    }
    this.#report(entry.line, kind, title, { losses, block });
    const shown =
      kind === 'page' ? blocks : [{ type: 'Callout', props: { kind: 'note', title, body: blocks } }];
    return [{ title, blocks: shown }];
  }

  /** Reads a web link, a discussion, or an assignment. */
  async #xml(entry: Entry, path: string): Promise<ConvertedStep[]> {
    const root = parseXml(await this.#source.text(path), path);
    this.#read.add(path);
    const title = entry.title || textIn(root, 'title');
    if (root.name === 'webLink') return this.#link(entry, title, childOf(root, 'url')?.attributes.href ?? '');
    const text = childOf(root, 'text');
    const kind = root.name === 'topic' ? 'discussion' : 'assignment';
    return this.#texts(entry, kind, title, htmlIn(text), path);
  }

  #document(entry: Entry, path: string): ConvertedStep[] {
    const title = entry.title || posix.basename(path);
    const src = this.#job.media.file(path) ?? '';
    const type = picture.test(path)
      ? 'Image'
      : video.test(path)
        ? 'Video'
        : audio.test(path)
          ? 'Audio'
          : 'Text';
    const html = `<p><a href="${src}">${escapeHtml(title)}</a></p>`;
    const props = type === 'Text' ? { html } : { src, ...(type === 'Image' && { alt: title }) };
    const block = { type, props };
    this.#report(entry.line, 'document', title, { block });
    return [{ title, blocks: [block] }];
  }

  async #quiz(entry: Entry, resource: Resource): Promise<ConvertedStep[]> {
    const written = resource.path || (resource.files[0] ?? '');
    // Canvas has a version of the quiz with all its types of questions beside the one of the standard.
    const full = `non_cc_assessments/${resource.id}.xml.qti`;
    const path = this.#source.has(full) ? full : written;
    if (!this.#source.has(path)) return this.#drop(entry, 'quiz', `the file ${path} is missing`);
    this.#read.add(written);
    const before = this.#questions.categories.length;
    const settings = posix.join(posix.dirname(written), 'assessment_meta.xml');
    const index = this.#job.report.entries.length;
    await this.#questions.file(path, settings);
    const categories = this.#questions.categories.splice(before);
    const title = entry.title || categories[0]?.title || posix.basename(path);
    const named = categories.map((category) => ({ ...category, title: category.title || title }));
    const { questionsPerStep } = this.#job.options;
    const steps = sectionsOf(named, { title, questionsPerStep }).flatMap((section) => section.steps);
    const [first] = steps;
    this.#report(entry.line, 'quiz', title, {
      block: first?.blocks[0] ?? null,
      ...(first === undefined && {
        result: 'dropped' as const,
        losses: ['it has no question that Lectern can show'],
      }),
    });
    // The quiz comes before its questions.
    const { entries } = this.#job.report;
    const [own] = entries.splice(-1);
    if (own !== undefined) entries.splice(index, 0, own);
    return steps;
  }
}

const silent: HtmlFiles = { reference: () => null, lose: () => undefined };

function htmlIn(text: XmlElement | undefined): string {
  if (text === undefined) return '';
  return /html/i.test(text.attributes.texttype ?? 'text/html') ? text.text : escapeHtml(text.text);
}

/** The files and pages that a page of a course refers to. */
class CourseFiles implements HtmlFiles {
  readonly losses = new Set<string>();
  readonly #path: string;
  readonly #source: Source;
  readonly #job: ConversionJob;

  constructor(path: string, source: Source, job: ConversionJob) {
    this.#path = path;
    this.#source = source;
    this.#job = job;
  }

  lose(loss: string): void {
    this.losses.add(loss);
  }

  reference(href: string): string | null {
    const embedded = embeddedMedium(href, this.#job.media);
    if (embedded !== null) return embedded;
    const plain = href.replaceAll('%24', '$');
    if (/^\$(?:CANVAS|WIKI)_/.test(plain)) {
      this.lose('links to other pages of the course are left out');
      return null;
    }
    const [, inCourse] = /^\$IMS[-_]CC[-_]FILEBASE\$\/*(.*)$/s.exec(plain) ?? [];
    const paths =
      inCourse === undefined
        ? [pathFrom(this.#path, href), pathFrom('web_resources/x', href)]
        : [pathFrom('web_resources/x', inCourse), pathFrom('x', inCourse)];
    const found = paths.find((path) => path !== null && this.#source.has(path));
    if (found !== undefined && found !== null && !page.test(found)) return this.#job.media.file(found);
    const isPage = found !== undefined;
    this.lose(
      isPage
        ? 'links to other pages of the course are left out'
        : `the file ${href.slice(0, 100)} is missing`,
    );
    return null;
  }
}
