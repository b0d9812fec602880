import { defineWidget } from '../../define.ts';
import { element } from '../../dom.ts';
import { textWithFormulas } from '../../html.ts';
import { text } from '../../props.ts';

const tags = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'] as const;

/** A heading of level 1 to 6, by default 2. */
export default defineWidget(
  'Heading',
  (root, { props, context }) => {
    const heading = text(props.text);
    if (!heading) return;
    const level = Number(text(props.level));
    const line = element(tags[level - 1] ?? 'h2', { class: 'lectern-heading-text' });
    line.append(textWithFormulas(heading, context));
    root.append(line);
  },
  { plainProps: ['text'] },
);
