import { message } from '../../../shared/i18n/message.ts';
import { defineWidget } from '../../define.ts';
import { element, icon, uniqueId } from '../../dom.ts';
import { textWithFormulas } from '../../html.ts';
import { blocks, text } from '../../props.ts';

/** The kinds that have a color, an icon, and a name for boxes without a title. */
const kinds = ['note', 'tip', 'warning', 'example'] as const;

/** A highlighted note that contains blocks. */
export default defineWidget(
  'Callout',
  (root, { props, context }) => {
    const note = element('div', { class: 'lectern-note', role: 'note' });
    const kind = kinds.find((known) => known === props.kind);
    const name = kind === undefined ? '' : message(context.language, `widget.${kind}`);
    const title = text(props.title) || name;
    if (kind !== undefined) note.classList.add(`lectern-is-${kind}`);
    if (title) {
      const id = uniqueId();
      note.setAttribute('aria-labelledby', id);
      const line = element('p', { class: 'lectern-note-title', id });
      if (kind !== undefined) line.append(icon(kind));
      // Sighted readers recognize the kind by its icon and color.
      if (name && title !== name) line.append(element('span', { class: 'lectern-hidden-text' }, `${name}: `));
      line.append(textWithFormulas(title, context));
      note.append(line);
    }
    const body = element('div', { class: 'lectern-stack' });
    note.append(body);
    root.append(note);
    context.renderBlocks(body, blocks(props.body));
  },
  { plainProps: ['title'] },
);
