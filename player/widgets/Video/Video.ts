import { defineWidget } from '../../define.ts';
import { element } from '../../dom.ts';
import { missingMedium, transcript } from '../../figure.ts';
import { mediaAddress } from '../../media.ts';
import { wordsFor } from '../../words.ts';

/** A video with captions and a transcript. */
export default defineWidget('Video', (root, { props, context }) => {
  const words = wordsFor(context.language);
  const src = mediaAddress(context, props.src);
  if (src === undefined) {
    root.append(missingMedium(words.videoMissing));
  } else {
    const poster = mediaAddress(context, props.poster);
    const video = element('video', {
      class: 'lectern-video-player',
      controls: true,
      playsinline: true,
      preload: 'metadata',
      poster,
    });
    const captions = mediaAddress(context, props.captions);
    if (captions !== undefined) {
      if (isForeign(src) || isForeign(captions)) video.crossOrigin = 'anonymous';
      const label = words.captions;
      video.append(
        element('track', {
          kind: 'captions',
          src: captions,
          srclang: context.language,
          label,
          default: true,
        }),
      );
    }
    video.addEventListener('error', () => {
      // A server that does not let other origins read its files still lets them play: better without captions.
      if (video.crossOrigin === null) return video.replaceWith(missingMedium(words.videoMissing));
      video.crossOrigin = null;
      video.load();
    });
    video.src = src;
    root.append(video);
  }
  const written = transcript(props.transcript, context);
  if (written) root.append(written);
});

/**
 * True for an address on another origin than the page's. Captions from there are read only in CORS mode, and
 * a sandboxed page is a stranger to its own server too.
 */
function isForeign(address: string): boolean {
  if (!URL.canParse(address, document.baseURI)) return false;
  const url = new URL(address, document.baseURI);
  return url.protocol.startsWith('http') && url.origin !== globalThis.origin;
}
