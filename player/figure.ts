import { element } from './dom.ts';
import { richText } from './html.ts';
import type { WidgetContext } from './widget.ts';
import { message } from '../shared/i18n/message.ts';

/** A line that stands where a medium should be, and what the medium would have told, when that is known. */
export function missingMedium(message: string, description = ''): HTMLElement {
  const box = element('div', { class: 'lectern-missing' }, element('p', {}, message));
  if (description) box.append(element('p', { class: 'lectern-missing-text' }, description));
  return box;
}

/** A transcript that unfolds under a video or an audio; undefined where there is none. */
export function transcript(source: unknown, context: WidgetContext): HTMLElement | undefined {
  const body = richText(source, context);
  if (!body) return undefined;
  return element(
    'details',
    { class: 'lectern-transcript' },
    element('summary', {}, message(context.language, 'widget.transcript')),
    body,
  );
}

/** A line for a medium whose captions cannot be loaded; hidden until then. */
export function captionsNote(context: WidgetContext): HTMLElement {
  return element(
    'p',
    { class: 'lectern-media-note', hidden: true },
    message(context.language, 'widget.captionsMissing'),
  );
}

/** What stands in the place of a block, or of the whole lesson, that cannot be shown. */
export function notice(message: string, detail = ''): HTMLElement {
  return element('div', { class: 'lectern-block lectern-notice' }, missingMedium(message, detail));
}
