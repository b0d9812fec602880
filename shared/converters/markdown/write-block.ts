import { isDeepStrictEqual } from 'node:util';
import { stringify } from 'yaml';
import { isCoreWidget } from '../../lessons/core-widgets.ts';
import { ElementCount } from '../../lessons/html-media.ts';
import { isRecord, listOf, recordOf } from '../../lessons/json-values.ts';
import type { ConvertedBlock } from '../converted-lesson.ts';
import { defaultOptions } from '../converter.ts';
import type { ConvertedMedia } from '../media.ts';
import { ConversionReport } from '../report.ts';
import { BlockReader } from './blocks.ts';
import { fieldsOf } from './attributes.ts';
import { blockForms, generatedId } from './block-forms.ts';
import { htmlToMarkdown } from './html-to-markdown.ts';
import { TextFile } from './text-file.ts';

/** Finds the files of a lesson that Markdown names. */
export interface WrittenMedia {
  /** Returns the path of a file for `media:<id>`; other texts as they are. */
  pathOf(reference: string): string;
  /** Returns `media:<id>` for a path; null for an unknown one. */
  file(path: string): string | null;
}

/** Writes blocks as Markdown, each in the first form that reads back as the same block. */
export class BlockWriter {
  readonly #media: WrittenMedia;
  /** Each block is tried in several forms of the block around it. */
  readonly #written = new WeakMap<ConvertedBlock, string | null>();

  constructor(media: WrittenMedia) {
    this.#media = media;
  }

  /** @returns null for a block that no form can express */
  write(block: ConvertedBlock): string | null {
    const known = this.#written.get(block);
    if (known !== undefined) return known;
    const written = this.#firstEqual(this.#withPaths(withoutImported(block)));
    this.#written.set(block, written);
    return written;
  }

  #firstEqual(plain: ConvertedBlock): string | null {
    const wanted = [comparable(plain)];
    const isEqual = (form: string) => isDeepStrictEqual(this.#readBack(form), wanted);
    // HTML that Markdown does not have stays as it is.
    for (const toText of [htmlToMarkdown, (html: string) => html]) {
      if (!isCoreWidget(plain.type)) break;
      const forms = blockForms(plain, { toText, writeBlocks: (blocks) => this.writeAll(blocks) });
      const found = forms.find(isEqual);
      if (found !== undefined) return found;
    }
    const form = widgetForm(plain);
    return form !== null && isEqual(form) ? form : null;
  }

  /** Writes the blocks of a list; null if one of them cannot be written. */
  writeAll(blocks: readonly ConvertedBlock[]): string | null {
    const written: string[] = [];
    for (const [index, block] of blocks.entries()) {
      const text = this.write(block);
      if (text === null) return null;
      const before = blocks[index - 1];
      const last = written.at(-1);
      if (before !== undefined && last !== undefined) {
        const wanted = [before, block].map((one) => comparable(this.#withPaths(withoutImported(one))));
        const isApart = isDeepStrictEqual(this.#readBack(`${last}\n\n${text}`), wanted);
        // Attributes without content keep two texts apart.
        if (!isApart) written.push('{}');
      }
      written.push(text);
    }
    return written.join('\n\n');
  }

  /** Reads blocks as an import does; null with a fault. */
  #readBack(text: string): ConvertedBlock[] | null {
    const { file, faults } = readWritten(text, (path) => this.#media.file(path));
    const blocks = new BlockReader(file).read(file.parsed.root.children);
    return faults.total === 0 ? blocks.map((block) => comparable(this.#withPaths(block))) : null;
  }

  /** Replaces references by paths, for Markdown. */
  #withPaths<T>(value: T): T {
    return mapTexts(value, (text) =>
      text.replaceAll(/media:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, (found) =>
        this.#media.pathOf(found),
      ),
    ) as T;
  }
}

/** Parses Markdown that was written, to compare it. */
export function readWritten(
  text: string,
  findFile: (path: string) => string | null,
): { file: TextFile; faults: { total: number } } {
  const faults = {
    total: 0,
    add() {
      this.total += 1;
    },
  };
  const media = { file: findFile } as unknown as ConvertedMedia;
  const job = { options: defaultOptions, report: new ConversionReport(), media, faults };
  return { file: new TextFile('lesson.md', text, job, new ElementCount()), faults };
}

/** Returns a block without what import writes, in blocks inside it, too. */
function withoutImported({ type, props }: ConvertedBlock): ConvertedBlock {
  const fields = fieldsOf(type);
  const isImported = (name: string) => {
    const field = fields[name];
    // MathML without LaTeX is the author's.
    const isAuthors = field?.insteadOf !== undefined && props[field.insteadOf] === undefined;
    return field?.isGenerated === true && !isAuthors;
  };
  const kept = Object.entries(props).filter(([name]) => !isImported(name));
  return { type, props: withSources(Object.fromEntries(kept)) as Record<string, unknown> };
}

function withSources(value: unknown): unknown {
  if (typeof value === 'string') return withDollars(value);
  if (Array.isArray(value)) return value.map(withSources);
  if (!isRecord(value)) return value;
  if (isBlock(value)) return { ...value, ...withoutImported(value) };
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withSources(one)]));
}

/** A formula that import has converted from TeX. */
const formula = /<math data-tex="([^"<>]*)"([^<>]*)>(?:(?!<math[ >]).)*?<\/math>/gs;

function withDollars(html: string): string {
  return html.replaceAll(formula, (_, tex: string, attributes: string) => {
    const mark = attributes.includes('display="block"') ? '$$' : '$';
    return `${mark}${tex}${mark}`;
  });
}

function isBlock(value: Record<string, unknown>): value is Record<string, unknown> & ConvertedBlock {
  return typeof value.type === 'string' && isRecord(value.props);
}

/** Returns a block without generated ids, and with the texts of choices for their generated ids. */
export function comparable({ type, props }: ConvertedBlock): ConvertedBlock {
  const names = new Map(
    listOf(props.choices).map((choice) => [recordOf(choice).id, recordOf(choice).html] as const),
  );
  const result = stripIds(props) as Record<string, unknown>;
  if (type === 'MultipleChoice' && Array.isArray(props.correct)) {
    result.correct = props.correct.map((id: unknown) =>
      typeof id === 'string' && generatedId.test(id) ? (names.get(id) ?? id) : id,
    );
  }
  return { type, props: result };
}

function stripIds(value: unknown): unknown {
  // Quotation marks need no entity in texts.
  if (typeof value === 'string')
    return value.replaceAll('&quot;', '"').replaceAll(/&(?:#39|#x27|apos);/g, "'");
  if (Array.isArray(value)) return value.map(stripIds);
  if (!isRecord(value)) return value;
  if (isBlock(value)) return comparable(value);
  const kept = Object.entries(value).filter(
    ([name, one]) => !(name === 'id' && typeof one === 'string' && generatedId.test(one)),
  );
  return Object.fromEntries(kept.map(([name, one]) => [name, stripIds(one)]));
}

/** Any widget, with its props as YAML. */
function widgetForm({ type, props }: ConvertedBlock): string | null {
  const kept = stripGenerated(props);
  const yaml = Object.keys(kept).length === 0 ? '' : stringify(kept, { lineWidth: 0 }).trimEnd();
  return /^`{3,}/m.test(yaml) || /\s/.test(type)
    ? null
    : ['```widget ' + type, ...(yaml === '' ? [] : [yaml]), '```'].join('\n');
}

function stripGenerated({ id, ...props }: Record<string, unknown>): Record<string, unknown> {
  return typeof id === 'string' && generatedId.test(id) ? props : { id, ...props };
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mapTexts(one, change)]));
}
