import { stringify } from 'yaml';
import type { ConvertedBlock } from '../converted-lesson.ts';
import { isRecord, quote, recordOf } from '../../lessons/json-values.ts';
import type { LessonContent, Section, Step } from '../../lessons/lesson-content.ts';
import type { Attribution } from '../../lessons/player-lesson.ts';
import { generatedId } from './block-forms.ts';
import { escapeMarkdown } from './html-to-markdown.ts';
import { plainText } from './blocks.ts';
import { splitInline } from './questions.ts';
import { BlockWriter, readWritten } from './write-block.ts';
import type { WrittenMedia } from './write-block.ts';

export interface WrittenLesson {
  markdown: string;
  /** What Markdown cannot express and is left out, for people. */
  losses: string[];
}

/** Writes a lesson as Markdown that converts to the same lesson, and says what it leaves out. */
export function writeLesson(
  { lesson, sections }: LessonContent,
  media: WrittenMedia,
  credits: ReadonlyMap<string, readonly Attribution[]>,
): WrittenLesson {
  const losses: string[] = [];
  const writer = new BlockWriter(media);
  const parts = [frontMatter(lesson, media, credits, losses)];
  const inOrder = (a: { order_index: number }, b: { order_index: number }) => a.order_index - b.order_index;
  for (const section of sections.toSorted(inOrder)) {
    parts.push(heading(1, section, losses));
    losses.push(
      ...unknownFields(section, ['id', 'title', 'order_index', 'steps'], `section "${section.title}"`),
    );
    for (const step of section.steps.toSorted(inOrder)) {
      parts.push(heading(2, step, losses));
      const place = `section "${section.title}", step "${step.title}"`;
      losses.push(...unknownFields(step, ['id', 'title', 'order_index', 'content'], place));
      losses.push(...unknownFields(step.content, ['content', 'root'], place));
      const blocks = step.content.content.map(({ type = '', props, ...rest }) => {
        losses.push(...unknownFields(rest, [], `${place}, ${type} ${props.id}`));
        return { type, props };
      });
      parts.push(writeBlocks(blocks, writer, place, losses));
    }
  }
  return { markdown: `${parts.filter((part) => part !== '').join('\n\n')}\n`, losses };
}

function writeBlocks(
  blocks: readonly ConvertedBlock[],
  writer: BlockWriter,
  place: string,
  losses: string[],
): string {
  const kept = blocks.filter((block) => {
    if (writer.write(block) !== null) return true;
    losses.push(`${place}, ${block.type} ${String(block.props.id)}`);
    return false;
  });
  return writer.writeAll(kept) ?? '';
}

function heading(depth: 1 | 2, { id, title }: Section | Step, losses: string[]): string {
  const text = escapeMarkdown(title)
    .replaceAll('\n', ' ')
    .replace(/\{(?=[^{}]*\}\s*$)/, '\\{');
  const isPlain = /^[\w-]+$/.test(id);
  const mark = generatedId.test(id) ? '' : isPlain ? ` {#${id}}` : ` {id=${quotedId(id)}}`;
  const written = `${'#'.repeat(depth)} ${text}${mark}`;
  const { file } = readWritten(written, () => null);
  const [node, ...others] = file.parsed.root.children;
  const read = node?.type === 'heading' && others.length === 0 ? splitInline(node) : null;
  const isSame =
    read !== null && plainText(read.children, file) === title && (mark === '' || read.attributes?.id === id);
  if (!isSame) losses.push(`the title ${quote(title)} as it is`);
  return written;
}

function quotedId(id: string): string {
  return `"${id.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`;
}

const knownMeta = [
  ...['id', 'slug', 'title', 'status', 'language', 'estimatedDuration', 'inlineTex', 'cover'],
  ...['variable_definitions', 'widget_settings'],
];

function frontMatter(
  lesson: LessonContent['lesson'],
  media: WrittenMedia,
  credits: ReadonlyMap<string, readonly Attribution[]>,
  losses: string[],
): string {
  losses.push(...unknownFields(lesson, knownMeta, 'lesson'));
  const { title, id, slug, status, language, estimatedDuration, inlineTex, cover } = lesson;
  const { image, imageSize: _size, ...rest } = recordOf(cover);
  const byPath = [...credits].map(
    ([path, list]) =>
      [
        path,
        list.map(({ text, url, portfolioUrl }) => ({
          ...(text !== '' && { text }),
          ...(url !== '' && { url }),
          ...(portfolioUrl !== '' && { portfolioUrl }),
        })),
      ] as const,
  );
  const fields = {
    ...{ title, id, slug, status },
    ...(typeof language === 'string' && { language }),
    ...(typeof estimatedDuration === 'number' && { estimatedDuration }),
    ...(typeof inlineTex === 'boolean' && { inlineTex }),
    ...(isRecord(cover) && {
      cover: { ...(typeof image === 'string' && { image: media.pathOf(image) }), ...rest },
    }),
    ...(lesson.variable_definitions.length > 0 && { variables: lesson.variable_definitions }),
    ...(Object.keys(lesson.widget_settings.overrides).length > 0 && {
      settings: lesson.widget_settings.overrides,
    }),
    ...(byPath.length > 0 && { credits: Object.fromEntries(byPath) }),
  };
  return `---\n${stringify(fields, { lineWidth: 0 })}---`;
}

function unknownFields(value: object, known: readonly string[], place: string): string[] {
  return Object.keys(value)
    .filter((name) => !known.includes(name))
    .map((name) => `${place}: the field ${name}`);
}
