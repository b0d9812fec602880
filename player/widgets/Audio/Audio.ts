import { loadMedium, readCaptions } from '../../captions.ts';
import { defineWidget } from '../../define.ts';
import { element } from '../../dom.ts';
import { captionsNote, creditsIn, missingMedium, transcript } from '../../figure.ts';
import { mediaUrl } from '../../media-url.ts';
import { captionLine } from './caption-line.ts';
import { message } from '../../../shared/i18n/message.ts';

/** A sound recording with captions and a transcript. */
export default defineWidget('Audio', (root, { props, context }) => {
  const missing = () => missingMedium(message(context.language, 'widget.audioMissing'));
  const src = mediaUrl(context, props.src);
  if (src === undefined) {
    root.append(missing());
  } else {
    const note = captionsNote(context);
    const audio = element('audio', { class: 'lectern-audio-player', controls: true, preload: 'metadata' });
    const tracks = loadMedium(audio, src, readCaptions(props.captions, context), context, {
      mediumFailed() {
        player.replaceWith(missing());
        note.remove();
      },
      captionsFailed: () => (note.hidden = false),
    });
    const player = element('div', {}, audio);
    if (tracks.length > 0) player.append(captionLine(tracks, context));
    root.append(player, note);
  }
  root.append(...creditsIn([props.src], context));
  const text = transcript(props.transcript, context);
  if (text) root.append(text);
});
