import { defineWidget } from '../../define.ts';
import { element } from '../../dom.ts';
import { missingMedium } from '../../figure.ts';
import { safeHtml } from '../../html.ts';
import { mediaAddress } from '../../media.ts';
import { text } from '../../props.ts';
import { wordsFor } from '../../words.ts';

/** A picture with its caption. Where it cannot be shown, its description stands in its place. */
export default defineWidget('Image', (root, { props, context }) => {
  const alt = text(props.alt);
  const figure = element('figure', { class: 'lectern-figure' });
  const missing = () => missingMedium(wordsFor(context.language).imageMissing, alt);

  const src = mediaAddress(context, props.src);
  if (src === undefined) {
    figure.append(missing());
  } else {
    const picture = element('img', {
      class: 'lectern-picture',
      alt,
      loading: 'lazy',
      decoding: 'async',
      src,
    });
    picture.addEventListener('error', () => picture.replaceWith(missing()), { once: true });
    figure.append(picture);
  }

  if (text(props.caption)) {
    const caption = element('figcaption', { class: 'lectern-caption lectern-rich' });
    caption.append(safeHtml(props.caption, context));
    figure.append(caption);
  }
  root.append(figure);
});
