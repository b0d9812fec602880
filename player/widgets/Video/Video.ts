import { loadMedium, readCaptions } from '../../captions.ts';
import { defineWidget } from '../../define.ts';
import { element } from '../../dom.ts';
import { captionsNote, missingMedium, transcript } from '../../figure.ts';
import { mediaUrl } from '../../media-url.ts';
import { message } from '../../../shared/i18n/message.ts';

/** A video with captions and a transcript. */
export default defineWidget('Video', (root, { props, context }) => {
  const missing = () => missingMedium(message(context.language, 'widget.videoMissing'));
  const src = mediaUrl(context, props.src);
  if (src === undefined) {
    root.append(missing());
  } else {
    const note = captionsNote(context);
    const video = element('video', {
      class: 'lectern-video-player',
      controls: true,
      playsinline: true,
      preload: 'metadata',
      poster: mediaUrl(context, props.poster),
    });
    loadMedium(video, src, readCaptions(props.captions, context), context, {
      mediumFailed() {
        video.replaceWith(missing());
        note.remove();
      },
      captionsFailed: () => (note.hidden = false),
    });
    root.append(video, note);
  }
  const text = transcript(props.transcript, context);
  if (text) root.append(text);
});
