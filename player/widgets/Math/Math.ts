import { defineWidget } from '../../define.ts';
import { element } from '../../dom.ts';
import { richText } from '../../html.ts';
import { text } from '../../props.ts';

/** A formula on its own line. Import has converted its LaTeX to MathML; without that, the LaTeX is shown. */
export default defineWidget('Math', (root, { props, context }) => {
  const formula = richText(props.mathml, context) ?? source(text(props.latex));
  const figure = element('figure', { class: 'lectern-formula' }, formula);
  const caption = richText(props.caption, context);
  if (caption) figure.append(element('figcaption', {}, caption));
  root.append(figure);
});

function source(latex: string): HTMLElement {
  return element('div', { class: 'lectern-rich' }, element('code', { dir: 'ltr' }, latex));
}
