import { defineWidget } from '../../define.ts';
import { element } from '../../dom.ts';

/** A line between two parts of a step. */
export default defineWidget('Divider', (root) => root.append(element('hr', { class: 'lectern-line' })));
