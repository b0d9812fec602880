import { defineWidget } from '../../define.ts';
import { element } from '../../dom.ts';
import { text } from '../../props.ts';

const tags = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'] as const;

/** A heading of level 1 to 6, by default 2. */
export default defineWidget(
  'Heading',
  (root, { props }) => {
    const heading = text(props.text);
    if (!heading) return;
    const level = Number(text(props.level));
    root.append(element(tags[level - 1] ?? 'h2', { class: 'lectern-heading-text' }, heading));
  },
  { plainProps: ['text'] },
);
