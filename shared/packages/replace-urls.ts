import { blockPlaces } from '../lessons/authoring.ts';
import { lessonBlocks } from '../lessons/blocks.ts';
import { coreWidgetFields } from '../lessons/core-widget-fields.ts';
import { isCoreWidget } from '../lessons/core-widgets.ts';
import { ElementCount, replaceMediaUrls, TooManyElements } from '../lessons/html-media.ts';
import type { HtmlReports, UrlUse } from '../lessons/html-media.ts';
import { isContainer, isRecord } from '../lessons/json-values.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import type { Fields, FieldValue } from '../lessons/widget-fields.ts';
import { messageOf } from '../platform/errors.ts';
import { PackageError } from './package-error.ts';
import type { FaultList } from './package-error.ts';

/**
 * The use of a URL in a lesson. `videoBlock`: the source of a `Video` block. `custom`: in HTML of a custom widget.
 * `customText`: a whole prop of a custom widget, which may be any text.
 */
export type LessonUrlUse = UrlUse | 'videoBlock' | 'custom' | 'customText';

/** The kinds of props that are the URL of a file, with its use. */
const urlUses = { image: 'image', video: 'videoBlock', audio: 'audio', captions: 'captions' } as const;

function isUrlKind(kind: string): kind is keyof typeof urlUses {
  return Object.hasOwn(urlUses, kind);
}

/**
 * Returns the replacement of a URL or a reference; null to keep it.
 *
 * @param place names the block and its prop for authors
 */
export type ReplaceLessonUrl = (written: string, use: LessonUrlUse, place: string) => string | null;

/** The receivers of what authors have to know about the HTML of a lesson. */
export interface UrlReports {
  faults: FaultList;
  /** Called with each element that learners do not see. */
  onLost?(this: void, element: string, reason: string, place: string): void;
  sizeOf?: HtmlReports['sizeOf'];
}

/**
 * Replaces the URLs and references in a lesson that lead to files: the cover's picture, media props and HTML texts of
 * core widgets, and texts in custom widgets. Changes the content in place.
 */
export function replaceUrls(content: LessonContent, replace: ReplaceLessonUrl, reports: UrlReports): void {
  const urls = new LessonUrls(replace, reports);
  if (isRecord(content.lesson.cover))
    urls.replaceIn(content.lesson.cover, 'image', { kind: 'image' }, 'The cover, image');
  const { overrides } = content.lesson.widget_settings;
  for (const [type, props] of Object.entries(overrides)) {
    urls.replaceInBlock(type, props, `The settings for all widgets of the type ${type}`);
  }
  const placeOf = blockPlaces(content);
  for (const visit of lessonBlocks(content)) {
    urls.replaceInBlock(visit.block.type, visit.block.props, placeOf(visit));
  }
}

class LessonUrls {
  readonly #replace: ReplaceLessonUrl;
  readonly #reports: UrlReports;
  readonly #elements = new ElementCount();

  constructor(replace: ReplaceLessonUrl, reports: UrlReports) {
    this.#replace = replace;
    this.#reports = reports;
  }

  replaceInBlock(type: string | undefined, props: unknown, place: string): void {
    if (type === undefined || !isRecord(props)) return;
    if (isCoreWidget(type)) this.#replaceInAll(props, coreWidgetFields[type], place);
    else this.#replaceInCustom(props, place);
  }

  /** Replaces the URLs in a member of an object, which may have any value. */
  replaceIn(holder: Record<string, unknown>, name: string, field: FieldValue, place: string): void {
    const value = holder[name];
    if (field.kind === 'object' && isRecord(value)) this.#replaceInAll(value, field.fields, place);
    if (Array.isArray(value)) {
      for (const index of value.keys()) this.#replaceInEntry(value, index, field, `${place} ${index + 1}`);
    }
    if (typeof value !== 'string') return;
    if (field.kind === 'html') holder[name] = this.#replaceInHtml(value, place);
    else if (isUrlKind(field.kind))
      holder[name] = this.#replace(value.trim(), urlUses[field.kind], place) ?? value;
  }

  /** Replaces the URLs in an entry of a list of objects, or of captions: a URL, or an object with one. */
  #replaceInEntry(entries: unknown[], index: number, field: FieldValue, place: string): void {
    const entry = entries[index];
    if (field.kind === 'list' && isRecord(entry)) this.#replaceInAll(entry, field.fields, place);
    if (field.kind !== 'captions') return;
    if (isRecord(entry)) this.replaceIn(entry, 'src', field, place);
    else if (typeof entry === 'string') {
      entries[index] = this.#replace(entry.trim(), 'captions', place) ?? entry;
    }
  }

  #replaceInAll(holder: Record<string, unknown>, fields: Fields, place: string): void {
    for (const [name, field] of Object.entries(fields)) {
      if (Object.hasOwn(holder, name)) this.replaceIn(holder, name, field, `${place}, ${name}`);
    }
  }

  /** Replaces whole texts, and URLs in texts that are HTML. */
  #replaceInCustom(holder: object, place: string): void {
    const members = holder as Record<string, unknown>;
    for (const [name, value] of Object.entries(members)) {
      if (isContainer(value)) this.#replaceInCustom(value, place);
      if (typeof value !== 'string') continue;
      members[name] =
        (value.includes('<')
          ? replaceInText(value, (written) => this.#replace(written, 'custom', place), this.#elements)
          : this.#replace(value.trim(), 'customText', place)) ?? value;
    }
  }

  #replaceInHtml(html: string, place: string): string {
    const { faults, onLost, sizeOf } = this.#reports;
    const lost = onLost && ((element: string, reason: string) => onLost(element, reason, place));
    try {
      const replace = (written: string, use: UrlUse) => this.#replace(written, use, place);
      return replaceMediaUrls(html, replace, this.#elements, { onLost: lost, sizeOf });
    } catch (error) {
      rejectTooMany(error);
      // The HTML would take too long to parse, or has the URL of a file outside the package.
      faults.add(`lesson.json: ${place}`, messageOf(error));
      return html;
    }
  }
}

/** Throws the count of all texts, which is no fault of one. */
function rejectTooMany(error: unknown): void {
  if (error instanceof TooManyElements) throw new PackageError([`lesson.json: ${error.message}`]);
}

/** Replaces the URLs in a text that may be HTML; null for HTML that would take too long to parse. */
function replaceInText(
  text: string,
  replace: (written: string) => string | null,
  elements: ElementCount,
): string | null {
  try {
    return replaceMediaUrls(text, replace, elements);
  } catch (error) {
    rejectTooMany(error);
    return null;
  }
}
