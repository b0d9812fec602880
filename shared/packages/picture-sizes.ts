import { isRecord } from '../lessons/json-values.ts';
import { lessonBlocks } from '../lessons/blocks.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { pictureIdOf } from '../lessons/picture-size.ts';
import type { PictureSize } from '../lessons/picture-size.ts';
import { imageSizeOf, maxPictureHeadBytes } from '../media/image-size.ts';
import type { PackageFile, PackageMedium } from './lesson-package.ts';

/** Reading more would take a package's CPU time. The space of further pictures is not reserved. */
const maxPictures = 10_000;

/** The sizes of pictures, by media id. */
export type PictureSizes = ReadonlyMap<string, PictureSize>;

/** Reads the sizes of a package's pictures. External ones are not here yet. */
export async function readPictureSizes(media: readonly PackageMedium[]): Promise<PictureSizes> {
  const sizes = new Map<string, PictureSize>();
  const pictures = media.filter(({ mimeType }) => /^image\//i.test(mimeType)).slice(0, maxPictures);
  for (const { id, file } of pictures) {
    const size = file && (await sizeOfFile(file));
    if (size) sizes.set(id, size);
  }
  return sizes;
}

async function sizeOfFile(file: PackageFile): Promise<PictureSize | null> {
  const stream = file.open();
  let head = Buffer.alloc(0);
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      head = Buffer.concat([head, chunk]);
      const size = imageSizeOf(head);
      if (size !== null || head.length >= maxPictureHeadBytes) return size;
    }
  } catch {
    // The import reports damaged files when it stores them.
  } finally {
    stream.destroy();
  }
  return null;
}

/** Returns the size of the picture that a reference names. */
export function sizeOfReference(src: unknown, sizes: PictureSizes): PictureSize | undefined {
  return sizes.get(pictureIdOf(src));
}

/** Writes the sizes of pictures into the cover and into `Image` blocks, for players. Changes the content in place. */
export function setPictureSizes(content: LessonContent, sizes: PictureSizes): void {
  const { cover } = content.lesson;
  if (isRecord(cover)) setSize(cover, 'imageSize', sizeOfReference(cover.image, sizes));
  for (const { block } of lessonBlocks(content)) {
    if (block.type === 'Image') setSize(block.props, 'size', sizeOfReference(block.props.src, sizes));
  }
}

function setSize(holder: Record<string, unknown>, name: string, size: PictureSize | undefined): void {
  if (size !== undefined) holder[name] = size;
}
