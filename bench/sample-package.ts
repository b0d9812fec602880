import { createCipheriv, createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface SamplePackage {
  /** How many pictures. */
  files: number;
  /** Of all pictures together. */
  bytes: number;
}

/** Bytes that do not compress and are the same in every run: a key stream that depends on the seed alone. */
function pseudoRandomBytes(seed: number, size: number): Buffer {
  const key = createHash('md5').update(String(seed)).digest();
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size));
}

const uuid = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** Writes a lesson package of pictures, their sizes spread between a fifth and twice the mean. */
export async function writeSamplePackage(folder: string, { files, bytes }: SamplePackage): Promise<void> {
  await mkdir(join(folder, 'media'), { recursive: true });
  const weights = Array.from({ length: files }, (_, index) => 0.2 + ((index * 7919) % 1000) / 555);
  const scale = bytes / weights.reduce((sum, weight) => sum + weight, 0);
  const ids = weights.map((_, index) => uuid(index + 1));
  for (const [index, weight] of weights.entries()) {
    await writeFile(
      join(folder, 'media', `${ids[index]}.png`),
      pseudoRandomBytes(index, Math.round(weight * scale)),
    );
  }
  const content = ids.map((id, index) => ({
    type: 'Image',
    props: { id: `Image-${index}`, src: `media:${id}`, alt: '' },
  }));
  const step = {
    id: uuid(9001),
    title: 'Pictures',
    order_index: 0,
    content: { root: { props: {} }, content },
  };
  const lessonId = uuid(9000);
  const lesson = {
    lesson: {
      id: lessonId,
      slug: 'sample',
      title: 'Sample',
      status: 'published',
      variable_definitions: [],
      widget_settings: { overrides: {} },
    },
    sections: [{ id: uuid(9002), title: 'Pictures', order_index: 0, steps: [step] }],
    totalSections: 1,
    totalSteps: 1,
  };
  const manifest = {
    lessonId,
    title: 'Sample',
    versionNumber: 1,
    versionId: uuid(9003),
    formatVersion: '1.0.0',
    files: {
      media: ids.map((id) => ({ id, localPath: `./media/${id}.png`, mimeType: 'image/png' })),
      widgets: [],
    },
  };
  await writeFile(join(folder, 'lesson.json'), JSON.stringify(lesson));
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
}
