import { defineWidget } from '../../define.ts';
import { element } from '../../dom.ts';
import { text } from '../../props.ts';

const TAGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'] as const;

/** A heading of level 1 to 6; 2 unless the props say otherwise. */
export default defineWidget('Heading', (root, { props }) => {
  const words = text(props.text);
  if (!words) return;
  const level = Number(text(props.level));
  root.append(element(TAGS[level - 1] ?? 'h2', { class: 'lectern-heading-text' }, words));
});
