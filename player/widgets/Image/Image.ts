import { defineWidget } from '../../define.ts';
import { element } from '../../dom.ts';
import { missingMedium } from '../../figure.ts';
import { safeHtml } from '../../html.ts';
import { mediaAddress } from '../../media.ts';
import { text } from '../../props.ts';
import { zoomable } from '../../zoom.ts';
import { message } from '../../../shared/i18n/message.ts';

/**
 * A picture with its caption, to be opened at full size where there is no room for it on the page. Where it cannot
 * be shown, its description stands in its place.
 */
export default defineWidget('Image', (root, { props, context }) => {
  const alt = text(props.alt);
  const figure = element('figure', { class: 'lectern-figure' });
  const missing = () => missingMedium(message(context.language, 'widget.imageMissing'), alt);
  let stop: (() => void) | undefined;

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
    const { parts = [], stop: stopZoom } = props.zoom === false ? {} : zoomable(picture, context.language);
    stop = stopZoom;
    figure.append(picture, ...parts);
    picture.addEventListener(
      'error',
      () => {
        picture.replaceWith(missing());
        for (const part of parts) part.remove();
      },
      { once: true },
    );
  }

  if (text(props.caption)) {
    const caption = element('figcaption', { class: 'lectern-caption lectern-rich' });
    caption.append(safeHtml(props.caption, context));
    figure.append(caption);
  }
  root.append(figure);
  return stop && { destroy: stop };
});
