import { listOf } from '../../../shared/lessons/json-values.ts';
import { defineWidget } from '../../define.ts';
import { element, icon, uniqueId } from '../../dom.ts';
import { textWithFormulas } from '../../html.ts';
import { blocks, record, text } from '../../props.ts';

/** Titles that open their blocks. */
export default defineWidget(
  'Accordion',
  (root, { props, context }) => {
    const level = [2, 3, 4, 5, 6].includes(props.level as number) ? String(props.level) : '2';
    // Browsers close the other panels with the same name.
    const group = props.single === true ? uniqueId() : undefined;
    for (const panel of listOf(props.panels).map(record)) {
      const title = text(panel.title);
      if (!title) continue;
      const name = element(
        'span',
        { class: 'lectern-panel-name', role: 'heading', 'aria-level': level },
        textWithFormulas(title, context),
      );
      const body = element('div', { class: 'lectern-panel-body lectern-stack' });
      root.append(
        element(
          'details',
          { class: 'lectern-panel', name: group, open: panel.open === true },
          element('summary', { class: 'lectern-panel-title' }, icon('unfold'), name),
          body,
        ),
      );
      context.renderBlocks(body, blocks(panel.body));
    }
  },
  { plainProps: ['panels'] },
);
