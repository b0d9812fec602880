import { expect, test } from 'vitest';
import { expectConversion, sub, text } from './h5p-file.ts';
import type { H5pCase } from './h5p-file.ts';

/* Contents without points. */

test.each<H5pCase>([
  [
    'Dialogcards',
    {
      type: 'Dialogcards',
      files: ['images/a.png', 'audios/a.mp3'],
      params: {
        title: '<p>Moons</p>',
        dialogs: [
          {
            ...{ text: 'New', answer: 'Spring', tips: { front: 'Dark', back: '' } },
            ...{
              image: { path: 'images/a.png' },
              imageAltText: 'The "new" moon',
              audio: [{ path: 'audios/a.mp3#tmp' }],
            },
          },
        ],
        behaviour: { randomCards: true },
      },
    },
    [
      { type: 'Text', props: { html: '<p>Moons</p>' } },
      {
        type: 'Flashcards',
        props: {
          shuffle: true,
          cards: [
            {
              front: expect.stringMatching(
                /^<p><img .*src="media:\S+" alt="The &quot;new&quot; moon"><\/p>New<p><audio controls src="media:\S+"><\/audio><\/p>$/,
              ) as string,
              ...{ back: expect.stringMatching(/>Spring$/) as string, hint: 'Dark' },
            },
          ],
        },
      },
    ],
  ],
  [
    'Accordion',
    {
      type: 'Accordion',
      params: { hTag: 'h3', panels: [{ title: 'Why &amp; how', content: text('<p>So.</p>') }] },
    },
    [
      {
        type: 'Accordion',
        props: {
          level: 3,
          panels: [{ title: 'Why & how', body: [{ type: 'Text', props: { html: '<p>So.</p>' } }] }],
        },
      },
    ],
  ],
  [
    'Column with rows',
    {
      type: 'Column',
      params: {
        content: [
          { content: text('One'), useSeparator: 'auto' },
          {
            content: sub('Row', {
              columns: [
                { width: 70, content: sub('RowColumn', { content: [text('Left')] }) },
                { width: 30, content: sub('RowColumn', { content: [text('Right')] }) },
              ],
            }),
            useSeparator: 'enabled',
          },
          {
            content: sub('Row', {
              columns: [{ width: 100, content: sub('RowColumn', { content: [{ content: text('Alone') }] }) }],
            }),
          },
        ],
      },
    },
    [
      { props: { html: 'One' } },
      { type: 'Divider' },
      {
        type: 'Columns',
        props: { columns: [[{ props: { html: 'Left' } }], [{ props: { html: 'Right' } }]] },
      },
      { props: { html: 'Alone' } },
    ],
  ],
  [
    'Video with a poster, captions and a second quality',
    {
      type: 'Video',
      files: ['videos/a.mp4', 'images/a.png', 'files/a.vtt'],
      params: {
        sources: [{ path: 'videos/gone.webm' }, { path: 'videos/a.mp4' }],
        visuals: { poster: { path: 'images/a.png' } },
        a11y: [{ label: 'Español', kind: 'captions', srcLang: 'es', track: { path: 'files/a.vtt' } }],
      },
    },
    [
      {
        type: 'Video',
        props: {
          poster: expect.stringMatching(/^media:/) as string,
          captions: [{ language: 'es', label: 'Español' }],
        },
      },
    ],
    'the file videos/gone.webm is missing in the package',
  ],
  [
    'Video of version 1.0 at YouTube',
    {
      type: 'Video',
      params: { files: [{ path: 'https://www.youtube.com/watch?v=l2WWYBv0-YA', mime: 'video/YouTube' }] },
    },
    [{ type: 'Video', props: { src: 'https://www.youtube.com/watch?v=l2WWYBv0-YA' } }],
  ],
  [
    'Audio',
    { type: 'Audio', files: ['audios/a.mp3'], params: { files: [{ path: 'audios/a.mp3' }] } },
    [{ type: 'Audio' }],
  ],
  [
    'Image that is decoration',
    {
      type: 'Image',
      files: ['images/a.png'],
      params: { file: { path: 'images/a.png' }, decorative: true, alt: 'x' },
    },
    [{ type: 'Image', props: { alt: '' } }],
  ],
  [
    'Table',
    { type: 'Table', params: { text: '<table><tr><td>1</td></tr></table>' } },
    [{ type: 'Text', props: { html: '<table><tr><td>1</td></tr></table>' } }],
  ],
  [
    'Link',
    {
      type: 'Link',
      params: { title: 'Tides', linkWidget: { protocol: 'https://', url: 'example.org/?a=1&amp;b=2' } },
    },
    [{ type: 'Text', props: { html: '<p><a href="https://example.org/?a=1&amp;b=2">Tides</a></p>' } }],
  ],
  [
    'Link of version 1.0',
    { type: 'Link', params: { title: 'Tides', url: 'https://example.org/' } },
    [{ type: 'Text', props: { html: '<p><a href="https://example.org/">Tides</a></p>' } }],
  ],
  [
    'IFrameEmbed',
    { type: 'IFrameEmbed', params: { source: 'https://example.org/' } },
    [{ type: 'Text', props: { html: '<p><a href="https://example.org/">Tides</a></p>' } }],
    'the page opens in a new tab',
  ],
  [
    'InteractiveVideo of version 1.0, with bookmarks',
    {
      type: 'InteractiveVideo',
      files: ['videos/a.mp4'],
      params: {
        interactiveVideo: {
          video: { files: [{ path: 'videos/a.mp4' }], textTracks: [] },
          assets: { bookmarks: [{ time: 65, label: 'Ebb' }] },
          interactions: [
            { duration: { from: 3700, to: 3705 }, action: text('Late') },
            { duration: { from: 33, to: 43 }, label: 'First', action: text('Early') },
          ],
          summary: sub('Summary', { summaries: [{ summary: ['Right', 'Wrong'], tip: 'Think' }] }),
        },
      },
    },
    [
      { type: 'Video' },
      { props: { html: '<ul><li>1:05 Ebb</li></ul>' } },
      { props: { html: '<p><strong>0:33</strong> First</p>' } },
      { props: { html: 'Early' } },
      { props: { html: '<p><strong>1:01:40</strong> </p>' } },
      { props: { html: 'Late' } },
      { type: 'MultipleChoice', props: { hint: 'Think' } },
    ],
    'its questions and texts come after the video',
  ],
])('H5P: %s', async (_what, file, blocks, loss = null) => {
  await expectConversion(file, blocks, loss);
});
