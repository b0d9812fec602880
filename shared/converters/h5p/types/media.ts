import { listOf, recordOf } from '../../../lessons/json-values.ts';
import { recordsOf } from '../contents.ts';
import type { ContentType, H5pContent } from '../contents.ts';
import { htmlOf, plainOf } from '../texts.ts';

/* Pictures, video and audio. */

const image: ContentType = {
  element: 'H5P.Image',
  result: 'converted',
  becomes: '`Image`; `partial` with a text on hover that differs from the description',
  convert(content) {
    const { file, alt, decorative, title } = content.params;
    const src = content.file(file, 'image', true);
    if (src === null) return null;
    const description = decorative === true ? '' : plainOf(alt);
    content.lose('its text on hover', !['', description].includes(plainOf(title)));
    return [{ type: 'Image', props: { src, alt: description } }];
  },
};

const video: ContentType = {
  element: 'H5P.Video',
  result: 'converted',
  becomes: '`Video`',
  convert(content) {
    const { sources, files, visuals, poster, a11y } = content.params;
    // Older versions: `files` until 1.1, `poster` until 1.2.
    const props = videoProps(content, {
      sources: sources ?? files,
      poster: recordOf(visuals).poster ?? poster,
      tracks: recordOf(a11y).videoTrack ?? a11y,
    });
    return props === null ? null : [{ type: 'Video', props }];
  },
};

/** Returns the props of a video; null without a file. Sources are the same video in several qualities. */
export function videoProps(
  content: H5pContent,
  { sources, poster, tracks }: { sources: unknown; poster: unknown; tracks: unknown },
): Record<string, unknown> | null {
  const src = firstFile(content, sources, 'video');
  if (src === null) return null;
  const picture = content.file(poster, 'image');
  const captions = recordsOf(tracks).flatMap(({ track, srcLang, label }) => {
    const file = content.file(track, 'captions');
    const language = plainOf(srcLang);
    const named = {
      ...(language !== '' && { language }),
      ...(plainOf(label) !== '' && { label: plainOf(label) }),
    };
    return file === null ? [] : [{ src: file, ...named }];
  });
  return {
    src,
    ...(picture !== null && { poster: picture }),
    ...(captions.length > 0 && { captions }),
  };
}

const audio: ContentType = {
  element: 'H5P.Audio',
  result: 'converted',
  becomes: '`Audio`',
  convert(content) {
    const src = firstFile(content, content.params.files, 'audio');
    return src === null ? null : [{ type: 'Audio', props: { src } }];
  },
};

/** Returns the reference to the first file that the package has. */
function firstFile(content: H5pContent, files: unknown, kind: 'video' | 'audio'): string | null {
  for (const file of listOf(files)) {
    if (htmlOf(recordOf(file).path) === '') continue;
    const src = content.file(file, kind, true);
    if (src !== null) return src;
  }
  return null;
}

export const mediaTypes = [image, video, audio];
