import { message } from '../../../shared/i18n/message.ts';
import { defineWidget } from '../../define.ts';
import { element, hintWhenWide } from '../../dom.ts';
import { richText, safeHtml } from '../../html.ts';
import { text } from '../../props.ts';
import { creditsIn } from '../../figure.ts';
import type { WidgetContext } from '../../widget.ts';

/** A program or a part of one. Import has highlighted it; without that, it is plain. */
export default defineWidget(
  'Code',
  (root, { props, context }) => {
    const source = typeof props.code === 'string' ? props.code.trimEnd() : '';
    const code = element('code', {}, highlighted(props.highlighted, context) ?? source);
    const name = text(props.language);
    const figure = element('figure', { class: 'lectern-program' });
    if (name) figure.append(element('p', { class: 'lectern-label lectern-program-name' }, name));
    // Code is read from left to right in every language.
    const label = message(context.language, 'code.label', { language: name || '–' });
    const program = element(
      'pre',
      { class: 'lectern-program-text', dir: 'ltr', role: 'region', 'aria-label': label },
      code,
    );
    hintWhenWide(program);
    figure.append(program);
    const caption = richText(props.caption, context);
    if (caption) figure.append(element('figcaption', {}, caption));
    root.append(figure, ...creditsIn([props.caption], context));
  },
  { plainProps: ['code', 'language'] },
);

/** Returns highlighted code; undefined if there is none. */
function highlighted(html: unknown, context: WidgetContext): DocumentFragment | undefined {
  if (!text(html)) return undefined;
  // Outside of it, line breaks would become paragraphs, and spaces would be lost.
  const pre = safeHtml(`<pre>${text(html)}</pre>`, context).querySelector('pre');
  const lines = document.createDocumentFragment();
  lines.append(...(pre?.childNodes ?? []));
  return lines;
}
