import { blockPlaces } from '../lessons/authoring.ts';
import { lessonBlocks } from '../lessons/blocks.ts';
import { coreWidgetProps } from '../lessons/core-widget-props.ts';
import type { PropKind, PropKinds } from '../lessons/core-widget-props.ts';
import { isCoreWidget } from '../lessons/core-widgets.ts';
import { ElementCount, replaceMediaUrls, TooManyElements } from '../lessons/html-media.ts';
import type { HtmlReports, UrlUse } from '../lessons/html-media.ts';
import { isContainer, isRecord } from '../lessons/json-values.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
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
    urls.replaceIn(content.lesson.cover, 'image', 'image', 'The cover, image');
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
    if (isCoreWidget(type)) this.#replaceInAll(props, coreWidgetProps[type], place);
    else this.#replaceInCustom(props, place);
  }

  /** Replaces the URLs in a member of an object, which may have any value. */
  replaceIn(holder: Record<string, unknown>, name: string, kind: PropKind, place: string): void {
    const value = holder[name];
    if (typeof kind === 'object') {
      if ('list' in kind)
        for (const [entry, at] of entriesOf(value, place)) this.#replaceInAll(entry, kind.list, at);
      else if (isRecord(value)) this.#replaceInAll(value, kind.object, place);
      return;
    }
    if (kind === 'captions' && Array.isArray(value)) {
      for (const index of value.keys()) this.#replaceInCaptions(value, index, `${place} ${index + 1}`);
    }
    if (typeof value !== 'string') return;
    if (kind === 'html') holder[name] = this.#replaceInHtml(value, place);
    else if (isUrlKind(kind)) holder[name] = this.#replace(value.trim(), urlUses[kind], place) ?? value;
  }

  /** Replaces the URL in an entry of a list of captions: a URL, or an object with one. */
  #replaceInCaptions(entries: unknown[], index: number, place: string): void {
    const entry = entries[index];
    if (isRecord(entry)) this.replaceIn(entry, 'src', 'captions', place);
    else if (typeof entry === 'string') {
      entries[index] = this.#replace(entry.trim(), 'captions', place) ?? entry;
    }
  }

  #replaceInAll(holder: Record<string, unknown>, kinds: PropKinds, place: string): void {
    for (const [name, kind] of Object.entries(kinds)) {
      if (Object.hasOwn(holder, name)) this.replaceIn(holder, name, kind, `${place}, ${name}`);
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

function entriesOf(value: unknown, place: string): [Record<string, unknown>, string][] {
  if (!Array.isArray(value)) return [];
  return (value as unknown[]).flatMap((entry, index) =>
    isRecord(entry) ? [[entry, `${place} ${index + 1}`] as [Record<string, unknown>, string]] : [],
  );
}
