import { defineWidget } from '../../define.ts';
import { richText } from '../../html.ts';

/** Formatted text: paragraphs, lists, tables, quotations, pictures, formulas. */
export default defineWidget('Text', (root, { props, context }) => {
  const body = richText(props.html, context);
  if (body) root.append(body);
});
