import type { CoreContext } from './define.ts';
import { element } from './dom.ts';
import { richText } from './html.ts';
import type { WidgetContext } from './widget.ts';
import { message } from '../shared/i18n/message.ts';

/** Makes a notice in place of a media file that cannot be shown, with the file's description if there is one. */
export function missingMedium(message: string, description = ''): HTMLElement {
  const box = element('div', { class: 'lectern-missing' }, element('p', {}, message));
  if (description) box.append(element('p', { class: 'lectern-missing-text' }, description));
  return box;
}

/** Makes a collapsed transcript; undefined if there is none. */
export function transcript(source: unknown, context: CoreContext): HTMLElement | undefined {
  const body = richText(source, context);
  if (!body) return undefined;
  return element(
    'details',
    { class: 'lectern-transcript' },
    element('summary', {}, message(context.language, 'widget.transcript')),
    body,
    ...creditsIn([source], context),
  );
}

/** Makes a line with the credits of the media in props, at any depth; empty without any. */
export function creditsIn(props: unknown[], { creditsFor }: CoreContext): HTMLElement[] {
  return creditsFor?.(JSON.stringify(props)) ?? [];
}

/** Makes the notice that captions failed to load, hidden until then. */
export function captionsNote(context: WidgetContext): HTMLElement {
  return element(
    'p',
    { class: 'lectern-media-note', hidden: true },
    message(context.language, 'widget.captionsMissing'),
  );
}

/** Makes a notice in place of a block or a lesson that cannot be shown. */
export function notice(message: string, detail = ''): HTMLElement {
  return element('div', { class: 'lectern-block lectern-notice' }, missingMedium(message, detail));
}
