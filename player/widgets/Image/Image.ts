import { defineWidget } from '../../define.ts';
import type { RenderOptions } from '../../define.ts';
import { element } from '../../dom.ts';
import { creditsIn, missingMedium } from '../../figure.ts';
import { reserveSpace } from '../../picture-space.ts';
import { safeHtml } from '../../html.ts';
import { mediaUrl } from '../../media-url.ts';
import { text } from '../../props.ts';
import type { MountedWidget } from '../../widget.ts';
import { zoomable } from '../../zoom.ts';
import { readPictureSize } from '../../../shared/lessons/picture-size.ts';
import { message } from '../../../shared/i18n/message.ts';

/**
 * A picture with a caption. Learners can open it at full size if the page has no space for that. If it fails to load,
 * its description replaces it.
 */
export default defineWidget('Image', renderImage, { plainProps: ['alt'] });

function renderImage(
  root: HTMLElement,
  { props, context }: RenderOptions,
): Partial<MountedWidget> | undefined {
  const alt = text(props.alt);
  const figure = element('figure', { class: 'lectern-figure' });
  const missing = () => missingMedium(message(context.language, 'widget.imageMissing'), alt);
  let stop: (() => void) | undefined;

  const src = mediaUrl(context, props.src);
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
    reserveSpace(picture, readPictureSize(props.size) ?? context.sizeOf?.(text(props.src)));
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
  root.append(...creditsIn([props.src, props.caption], context));
  return stop && { destroy: stop };
}
