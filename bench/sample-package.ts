import { createCipheriv, createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { numberedId, writePackage } from './write-package.ts';

export interface SamplePackage {
  /** The number of pictures. */
  files: number;
  /** The size of all pictures together. */
  bytes: number;
}

/** Returns incompressible bytes that are the same in every run: a key stream from the seed. */
function pseudoRandomBytes(seed: number, size: number): Buffer {
  const key = createHash('md5').update(String(seed)).digest();
  return createCipheriv('aes-128-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(size));
}

/** Writes a lesson package of pictures, with sizes between a fifth and twice the mean. */
export async function writeSamplePackage(folder: string, { files, bytes }: SamplePackage): Promise<void> {
  await mkdir(join(folder, 'media'), { recursive: true });
  const weights = Array.from({ length: files }, (_, index) => 0.2 + ((index * 7919) % 1000) / 555);
  const scale = bytes / weights.reduce((sum, weight) => sum + weight, 0);
  const ids = weights.map((_, index) => numberedId(index + 1));
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
    id: numberedId(9001),
    title: 'Pictures',
    order_index: 0,
    content: { root: { props: {} }, content },
  };
  await writePackage(folder, {
    lessonId: numberedId(9000),
    versionId: numberedId(9003),
    sections: [{ id: numberedId(9002), title: 'Pictures', order_index: 0, steps: [step] }],
    media: ids.map((id) => ({ id, localPath: `./media/${id}.png`, mimeType: 'image/png' })),
  });
}
