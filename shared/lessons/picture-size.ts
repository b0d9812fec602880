/** The size of a picture in CSS pixels, for which players reserve space before the picture loads. */
export interface PictureSize {
  width: number;
  height: number;
  /** Whether the picture is as wide as its container, so that only the ratio counts: a drawing without a size. */
  isFluid?: true;
}

/** Returns the media id that a reference names, in lower case, to look up its size; empty for anything else. */
export function pictureIdOf(src: unknown): string {
  const [, id = ''] = /^media:([\da-f-]{36})(?:#.*)?$/i.exec(typeof src === 'string' ? src.trim() : '') ?? [];
  return id.toLowerCase();
}

/** Reads a size; undefined for anything else. */
export function readPictureSize(value: unknown): PictureSize | undefined {
  const { width, height, isFluid } = (value ?? {}) as Record<string, unknown>;
  const isPixels = (side: unknown) =>
    Number.isSafeInteger(side) && Number(side) > 0 && Number(side) <= 100_000;
  if (!isPixels(width) || !isPixels(height)) return undefined;
  return { width: Number(width), height: Number(height), ...(isFluid === true && { isFluid }) };
}
