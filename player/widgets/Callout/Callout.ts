import { defineWidget } from '../../define.ts';
import { element, uniqueId } from '../../dom.ts';
import { blocks, text } from '../../props.ts';

/** A highlighted note that contains blocks. */
export default defineWidget(
  'Callout',
  (root, { props, context }) => {
    const note = element('div', { class: 'lectern-note', role: 'note' });
    const title = text(props.title);
    if (title) {
      const id = uniqueId();
      note.setAttribute('aria-labelledby', id);
      note.append(element('p', { class: 'lectern-note-title', id }, title));
    }
    const body = element('div', { class: 'lectern-stack' });
    note.append(body);
    root.append(note);
    context.renderBlocks(body, blocks(props.body));
  },
  { plainProps: ['title'] },
);
