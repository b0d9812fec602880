import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildPackage, buildVersion } from '../support/factories.ts';
import { mediaPaths } from './exports.ts';
import { useExportLab } from './lab.ts';
import { png } from './pictures.ts';

const lab = useExportLab({}, { worker: true });

/** Positions of a reference in a step's content; `*` stands for it. */
const places: [name: string, content: (reference: string) => object, text: string][] = [
  ['a prop', (src) => block({ src }), '*'],
  ['a slot', (src) => block({ body: [block({ src }, 'inner')] }), '*'],
  [
    'a slot of a slot in a column',
    (src) => block({ columns: [[], [block({ body: [block({ src }, 'b')] }, 'a')]] }),
    '*',
  ],
  ['an array of strings', (src) => block({ pictures: ['', src] }), '*'],
  ['an object of objects', (src) => block({ a: { b: { c: [{ d: src }] } } }), '*'],
  ['an attribute of HTML', (html) => block({ html }), '<p>Look: <img class="a" src="*" alt="&quot;"></p>'],
  ['a srcset', (html) => block({ html }), '<img srcset="* 1x, * 2x,* 3x">'],
  ['a style', (html) => block({ html }), `<div style="background: url('*')"></div>`],
  ['a sentence', (text) => block({ text }), 'Compare * with (*), "*".'],
];

function block(props: object, id = 'outer'): object {
  return { type: 'Text', props: { id, html: '', ...props } };
}

function section(content: object): object {
  const step = { id: 'step', title: 'A step', order_index: 0, content };
  return { id: 'section', title: 'A section', order_index: 0, steps: [step] };
}

/** Exports a lesson with this one step and returns the step's content. */
async function exportedContent(contentOf: (id: string) => object): Promise<{ id: string; content: unknown }> {
  const id = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';
  const version = await lab.publish({ media: [{ id, bytes: png(1) }], sections: [section(contentOf(id))] });
  const exported = await lab.download(version);
  expect(mediaPaths(exported)).toEqual([`media/${id}.png`]);
  expect(exported.manifest.failedMedia).toEqual([]);
  return { id, content: exported.lesson.sections[0]?.steps[0]?.content };
}

test.each(places)(
  'a reference in %s becomes a path, and the surrounding content stays unchanged',
  async (_name, place, text) => {
    for (const spelling of [(id: string) => id, (id: string) => id.toUpperCase()]) {
      const contentWith = (reference: string) => ({
        content: [place(text.replaceAll('*', reference))],
        root: { props: {} },
      });
      const { id, content } = await exportedContent((mediaId) => contentWith(`media:${spelling(mediaId)}`));
      expect(content).toEqual(contentWith(`./media/${id}.png`));
    }
  },
);

test('references in zones and in root props become paths', async () => {
  const contentWith = (reference: string) => ({
    content: [],
    root: { props: { background: reference, title: `About ${reference}` } },
    zones: {
      'outer:left': [block({ src: reference })],
      'outer:right': [block({ body: [block({ src: reference }, 'b')] }, 'a')],
    },
  });
  const { id, content } = await exportedContent((mediaId) => contentWith(`media:${mediaId}`));
  expect(content).toEqual(contentWith(`./media/${id}.png`));
});

test('keys and texts that only resemble references stay unchanged', async () => {
  const contentWith = (reference: string, id: string) => ({
    content: [
      block({
        src: reference,
        text: 'media:none media:123 @media: print { media: all }',
        [`media:${id}`]: 'a key is a name',
        longer: 'social media:0a1b2c3d-4e5f',
      }),
    ],
    root: { props: {} },
  });
  const { id, content } = await exportedContent((mediaId) => contentWith(`media:${mediaId}`, mediaId));
  expect(content).toEqual(contentWith(`./media/${id}.png`, id));
});

test("replacing a picture under its id in a later version leaves the earlier version's export unchanged", async () => {
  const built = await buildPackage({ media: [{ bytes: png(10) }] });
  const [id] = built.mediaIds;
  const first = await buildVersion(lab.harness, lab.organization, built.path);
  const before = await lab.download(first);

  await writeFile(join(built.path, 'media', `${id}.png`), png(11));
  const second = await buildVersion(lab.harness, lab.organization, built.path);
  const after = await lab.download(second);
  expect(after.files.get(`media/${id}.png`)?.equals(png(11))).toBe(true);

  await lab.evict(first);
  expect((await lab.download(first)).bytes.equals(before.bytes)).toBe(true);
  expect(before.files.get(`media/${id}.png`)?.equals(png(10))).toBe(true);
});
