import { defineWidget } from '../../define.ts';
import { creditsIn } from '../../figure.ts';
import { richText } from '../../html.ts';

/** Formatted text: paragraphs, lists, tables, quotations, pictures, formulas. */
export default defineWidget('Text', (root, { props, context }) => {
  const body = richText(props.html, context);
  if (body) root.append(body, ...creditsIn([props.html], context));
});
