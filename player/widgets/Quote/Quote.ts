import { defineWidget } from '../../define.ts';
import { element } from '../../dom.ts';
import { creditsIn } from '../../figure.ts';
import { richText } from '../../html.ts';

/** A quotation with its source. */
export default defineWidget('Quote', (root, { props, context }) => {
  const body = richText(props.html, context);
  if (body === undefined) return;
  const figure = element('figure', { class: 'lectern-quotation' });
  figure.append(element('blockquote', {}, body));
  const source = richText(props.source, context);
  if (source) figure.append(element('figcaption', {}, source));
  root.append(figure, ...creditsIn([props.html, props.source], context));
});
