import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildPackage, buildVersion } from '../support/factories.ts';
import { mediaPaths } from './exports.ts';
import { useExportLab } from './lab.ts';
import { png } from './pictures.ts';

const lab = useExportLab({}, { worker: true });

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

test('references of any position and spelling become paths, and the surrounding content stays unchanged but for sizes', async () => {
  const contentWith = (reference: string, spelled = reference, size = '') => ({
    content: [
      block({ src: reference }, 'prop'),
      block({ columns: [[], [block({ body: [block({ src: spelled }, 'b')] }, 'a')]] }, 'slot'),
      block({ pictures: ['', reference], a: { b: [{ c: spelled }] } }, 'nested'),
      block({ html: `<p>Look: <img${size} class="a" src="${spelled}" alt="&quot;"></p>` }, 'attribute'),
      block({ html: `<img srcset="${reference} 1x, ${spelled} 2x,${reference} 3x">` }, 'srcset'),
      block({ html: `<div style="background: url('${reference}')"></div>` }, 'style'),
      block({ text: `Compare ${reference} with (${spelled}), "${reference}".` }, 'sentence'),
    ],
    root: { props: {} },
  });
  const { id, content } = await exportedContent((mediaId) =>
    contentWith(`media:${mediaId}`, `media:${mediaId.toUpperCase()}`),
  );
  const path = `./media/${id}.png`;
  expect(content).toEqual(contentWith(path, path, ' width="1" height="1"'));
});

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

  await writeFile(join(built.path, 'media', `${id}.png`), png(11));
  const second = await buildVersion(lab.harness, lab.organization, built.path);
  const after = await lab.download(second);
  expect(after.files.get(`media/${id}.png`)?.equals(png(11))).toBe(true);

  const before = await lab.download(first);
  expect(before.files.get(`media/${id}.png`)?.equals(png(10))).toBe(true);
});
