import { defineWidget } from '../../define.ts';
import { element } from '../../dom.ts';
import { blocks } from '../../props.ts';

/** Blocks side by side, or one below the other where space is limited. */
export default defineWidget('Columns', (root, { props, context }) => {
  const columns: unknown[] = Array.isArray(props.columns) ? props.columns : [];
  const grid = element('div', { class: 'lectern-column-grid' });
  root.append(grid);
  for (const column of columns) {
    const cell = element('div', { class: 'lectern-stack' });
    grid.append(cell);
    context.renderBlocks(cell, blocks(column));
  }
});
