import { loadMedium, readCaptions } from '../../captions.ts';
import { defineWidget } from '../../define.ts';
import type { CoreContext } from '../../define.ts';
import { element } from '../../dom.ts';
import { captionsNote, creditsIn, missingMedium, transcript } from '../../figure.ts';
import { reserveRatio } from '../../picture-space.ts';
import { mediaUrl } from '../../media-url.ts';
import { text } from '../../props.ts';
import { message } from '../../../shared/i18n/message.ts';
import { externalVideo } from '../../../shared/lessons/external-video.ts';
import type { ExternalVideo } from '../../../shared/lessons/external-video.ts';

/** A video with captions and a transcript: a file, or a page of another host. */
export default defineWidget('Video', (root, { props, context }) => {
  const missing = () => missingMedium(message(context.language, 'widget.videoMissing'));
  const page = text(props.src);
  const external = externalVideo(page);
  const src = mediaUrl(context, props.src);
  const poster = mediaUrl(context, props.poster);
  if (external) {
    root.append(externalBox(page, external, poster, context));
  } else if (src === undefined) {
    root.append(missing());
  } else {
    const note = captionsNote(context);
    const video = element('video', {
      class: 'lectern-video-player',
      controls: true,
      playsinline: true,
      preload: 'metadata',
      poster,
    });
    reserveRatio(video, 'loadedmetadata');
    loadMedium(video, src, readCaptions(props.captions, context), context, {
      mediumFailed() {
        video.replaceWith(missing());
        note.remove();
      },
      captionsFailed: () => (note.hidden = false),
    });
    root.append(video, note);
  }
  root.append(...creditsIn([props.src, props.poster], context));
  const script = transcript(props.transcript, context);
  if (script) root.append(script);
});

/** Makes a box that contacts the video's host only after a press. */
function externalBox(
  page: string,
  { host }: ExternalVideo,
  poster: string | undefined,
  { language, openVideo }: CoreContext,
): HTMLElement {
  const box = element('div', { class: 'lectern-external-video' });
  if (poster !== undefined) box.append(element('img', { src: poster, alt: '' }));
  if (openVideo) {
    const button = element(
      'button',
      { class: 'lectern-button', type: 'button' },
      message(language, 'widget.playFrom', { host }),
    );
    button.addEventListener('click', () => {
      openVideo(page);
      // When the page around this one has closed the video.
      addEventListener('focus', () => button.focus(), { once: true });
    });
    box.append(button, element('p', {}, message(language, 'widget.playFromNote', { host })));
  } else {
    const link = { class: 'lectern-button', href: page, target: '_blank', rel: 'noopener noreferrer' };
    box.append(element('a', link, message(language, 'widget.watchOn', { host })));
  }
  return box;
}
