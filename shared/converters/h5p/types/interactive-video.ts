import { recordOf } from '../../../lessons/json-values.ts';
import type { ConvertedBlock } from '../../converted-lesson.ts';
import { escapeHtml } from '../../questions/question-blocks.ts';
import { recordsOf } from '../contents.ts';
import type { ContentType, H5pContent } from '../contents.ts';
import { htmlOf, numberOf, plainOf, timeOf } from '../texts.ts';
import { videoProps } from './media.ts';

export const interactiveVideo: ContentType = {
  element: 'H5P.InteractiveVideo',
  result: 'partial',
  becomes: '`Video`, then the questions and texts with their times; the video does not stop for them',
  convert(content) {
    const { video, assets, interactions, summary } = recordOf(content.params.interactiveVideo);
    const blocks = videoBlocks(content, recordOf(video));
    // Until version 1.1, interactions were beside the assets.
    const list = recordsOf(recordOf(assets).interactions ?? interactions).sort((a, b) => from(a) - from(b));
    for (const interaction of list) blocks.push(...interactionBlocks(content, interaction));
    content.lose('its questions and texts come after the video', list.length > 0);
    const bookmarks = recordsOf(recordOf(assets).bookmarks).filter(({ label }) => plainOf(label) !== '');
    if (bookmarks.length > 0) blocks.splice(1, 0, bookmarkList(bookmarks));
    // Until version 1.3, the summary was the task itself.
    blocks.push(...content.child(recordOf(summary).task ?? summary));
    return blocks.length === 0 ? null : blocks;
  },
};

function videoBlocks(content: H5pContent, video: Record<string, unknown>): ConvertedBlock[] {
  const { files, startScreenOptions, advancedSettings, poster, textTracks } = video;
  // The start screen had three places until version 1.12, and tracks had two until 1.21.
  const { startScreenOptions: inner, ...settings } = recordOf(advancedSettings);
  const start = { poster, ...settings, ...recordOf(inner), ...recordOf(startScreenOptions) };
  const tracks = recordOf(textTracks).videoTrack ?? textTracks;
  const props = videoProps(content, { sources: files, poster: start.poster, tracks });
  content.lose('the video', props === null);
  const description = htmlOf((start as Record<string, unknown>).shortStartDescription);
  return [
    ...(description === '' ? [] : [{ type: 'Text', props: { html: description } }]),
    ...(props === null ? [] : [{ type: 'Video', props }]),
  ];
}

function from({ duration }: Record<string, unknown>): number {
  return numberOf(recordOf(duration).from) ?? 0;
}

/** Returns the blocks of an interaction, after its time and label. */
function interactionBlocks(content: H5pContent, interaction: Record<string, unknown>): ConvertedBlock[] {
  const { action, label, adaptivity, goto } = interaction;
  const { correct, wrong } = recordOf(adaptivity);
  const jumps = [correct, wrong].some((rule) => (numberOf(recordOf(rule).seekTo) ?? 0) > 0);
  content.lose('jumps in the video after an answer', jumps);
  content.lose('links to places in the video', recordOf(goto).type !== undefined);
  const blocks = content.child(action);
  if (blocks.length === 0 && plainOf(label) === '') return [];
  const time = `<strong>${timeOf(from(interaction))}</strong>`;
  return [{ type: 'Text', props: { html: `<p>${time} ${escapeHtml(plainOf(label))}</p>` } }, ...blocks];
}

function bookmarkList(bookmarks: Record<string, unknown>[]): ConvertedBlock {
  const items = bookmarks.map(
    ({ time, label }) => `<li>${timeOf(numberOf(time) ?? 0)} ${escapeHtml(plainOf(label))}</li>`,
  );
  return { type: 'Text', props: { html: `<ul>${items.join('')}</ul>` } };
}
