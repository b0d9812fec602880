import { defineWidget } from '../../define.ts';
import { element } from '../../dom.ts';
import { missingMedium, transcript } from '../../figure.ts';
import { mediaAddress } from '../../media.ts';
import { wordsFor } from '../../words.ts';

/** A recording with its transcript. */
export default defineWidget('Audio', (root, { props, context }) => {
  const missing = () => missingMedium(wordsFor(context.language).audioMissing);
  const src = mediaAddress(context, props.src);
  if (src === undefined) {
    root.append(missing());
  } else {
    const audio = element('audio', {
      class: 'lectern-audio-player',
      controls: true,
      preload: 'metadata',
      src,
    });
    audio.addEventListener('error', () => audio.replaceWith(missing()), { once: true });
    root.append(audio);
  }
  const written = transcript(props.transcript, context);
  if (written) root.append(written);
});
