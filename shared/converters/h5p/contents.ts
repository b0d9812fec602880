import { isRecord, listOf, recordOf } from '../../lessons/json-values.ts';
import type { ConvertedBlock } from '../converted-lesson.ts';
import type { ConversionOptions, ElementRule } from '../converter.ts';
import type { ConvertedMedia } from '../media.ts';
import { attributionOf, creditOf, licenseName, licenseOf, titleIn } from './credits.ts';
import type { Credit } from './credits.ts';
import { plainOf } from './texts.ts';

/** A type of content, such as `H5P.MultiChoice`, in any version. */
export interface ContentType extends ElementRule {
  /**
   * Converts a content, or a content of several pages, which becomes steps or sections if it is the whole package. Names
   * what is lost in `content.losses`.
   *
   * @returns null if learners see nothing of it
   */
  convert(content: H5pContent): ConvertedBlock[] | Pages | null;
}

export interface Pages {
  as: 'sections' | 'steps';
  pages: Page[];
}

export interface Page {
  /** Plain text; may be empty. */
  title: string;
  blocks: ConvertedBlock[];
}

/** What a conversion knows. */
export interface Conversion {
  types: ReadonlyMap<string, ContentType>;
  media: ConvertedMedia;
  options: ConversionOptions;
  /** By the object in content.json. */
  contents: Map<object, H5pContent>;
  /** The blocks of the contents so far. Each belongs to the innermost content that made it. */
  claimed: Set<ConvertedBlock>;
  /** The licenses of the files that the lesson has, by path; '' if undisclosed. */
  files: Map<string, string>;
}

/** The file name extensions of each kind of media. The editor of H5P accepts others only as downloads. */
const extensions = {
  image: /\.(?:png|jpe?g|gif|bmp|webp|avif|tiff?|svg)$/i,
  video: /\.(?:mp4|m4v|webm|og[gv]|mov)$/i,
  audio: /\.(?:mp3|m4a|og[ga]|opus|wav|aac|flac|webm|mp4)$/i,
  captions: /\.(?:vtt|webvtt|srt)$/i,
};

/** The fields in which types have their task or text. */
const textFields = ['question', 'text', 'taskDescription', 'intro', 'title', 'textField'];

/** A content: that of the package, or one within another, as `{library, params, metadata}`. */
export class H5pContent {
  readonly type: string;
  readonly params: Record<string, unknown>;
  readonly metadata: Record<string, unknown>;
  /** What is lost of it, or why it is dropped, as phrases. */
  readonly losses: string[] = [];
  /** Null for a content of which learners see nothing. */
  blocks: ConvertedBlock[] | null = null;
  pages: Pages | null = null;
  /** The block that stands for it in the report. */
  block: ConvertedBlock | null = null;
  /** The credit that no media file has. */
  credit: Credit | null;
  readonly parent: H5pContent | null;
  readonly job: Conversion;

  constructor(value: Record<string, unknown>, parent: H5pContent | null, job: Conversion) {
    this.type = plainOf(value.library).split(' ')[0] ?? '';
    this.params = recordOf(value.params);
    this.metadata = recordOf(value.metadata);
    this.credit = creditOf(this.metadata);
    this.parent = parent;
    this.job = job;
  }

  get title(): string {
    const texts = textFields.map((name) => plainOf(this.params[name]));
    return titleIn(this.metadata) || (texts.find((text) => text !== '') ?? '');
  }

  /** The license of the content; without its own, that of the content around it. */
  get license(): string {
    return licenseOf(this.metadata) === '' ? (this.parent?.license ?? '') : licenseName(this.metadata);
  }

  get options(): ConversionOptions {
    return this.job.options;
  }

  lose(loss: string, isLost = true): void {
    if (isLost && !this.losses.includes(loss)) this.losses.push(loss);
  }

  // cspell:ignore behaviour -- a field of H5P
  /** Returns a setting. Before they had a group of their own, settings were beside the texts. */
  setting(name: string, oldName = name): unknown {
    return recordOf(this.params.behaviour)[name] ?? this.params[oldName];
  }

  /** Converts a content in a field of this one; without one, returns nothing. */
  child(value: unknown): ConvertedBlock[] {
    return isContent(value) ? (convertContent(value, this, this.job).blocks ?? []) : [];
  }

  /**
   * Returns the reference to a media file: `{path, mime, copyright}`. The path is relative to the folder `content`, or the
   * URL of a file elsewhere. Names a file that is missing, or of another kind, among the losses.
   *
   * @param isMain whether the content is this file, with the credit of the content
   */
  file(value: unknown, kind: keyof typeof extensions, isMain = false): string | null {
    const { path, copyright } = recordOf(value);
    const name = plainOf(path).replace(/#tmp$/, '');
    if (name === '') return null;
    if (/^https?:\/\//i.test(name)) return name;
    if (!extensions[kind].test(name)) {
      this.lose(`the file ${name} is not ${kind === 'image' ? 'a picture' : kind}`);
      return null;
    }
    const credits = [creditOf(recordOf(copyright)), isMain ? this.credit : null];
    const attributions = credits.filter((credit) => credit !== null).map(attributionOf);
    const reference = this.job.media.file(`content/${name}`, attributions);
    if (reference === null) this.lose(`the file ${name} is missing in the package`);
    else {
      if (isMain) this.credit = null;
      this.job.files.set(`content/${name}`, licenseName(recordOf(copyright)) || this.license);
    }
    return reference;
  }
}

export function isContent(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && typeof value.library === 'string' && value.library.trim() !== '';
}

/** Converts a content and those in it, and keeps the result in `job.contents`. */
export function convertContent(
  value: Record<string, unknown>,
  parent: H5pContent | null,
  job: Conversion,
): H5pContent {
  const content = new H5pContent(value, parent, job);
  job.contents.set(value, content);
  const type = job.types.get(content.type);
  const converted = type?.convert(content) ?? null;
  if (type === undefined) content.lose(`Lectern has no counterpart of ${content.type}`);
  else if (converted === null) content.lose('it is empty', content.losses.length === 0);
  if (converted === null) return content;
  if (!Array.isArray(converted)) content.pages = converted;
  content.blocks = Array.isArray(converted) ? converted : converted.pages.flatMap(blocksOf);
  content.block = content.blocks.find((block) => !job.claimed.has(block)) ?? content.blocks[0] ?? null;
  for (const block of content.blocks) job.claimed.add(block);
  return content;
}

function blocksOf({ title, blocks }: Page): ConvertedBlock[] {
  const heading = { type: 'Heading', props: { text: title, level: 3 } };
  return title === '' || blocks.length === 0 ? blocks : [heading, ...blocks];
}

/** Returns the entries of a list field, each as an object. */
export function recordsOf(value: unknown): Record<string, unknown>[] {
  return listOf(value).filter(isRecord);
}
