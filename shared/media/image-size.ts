import { imageSize } from 'image-size';

/** Width and height in CSS pixels. */
export interface ImageSize {
  width: number;
  height: number;
}

/**
 * Returns the size at which browsers show a picture, from the first bytes of its file; null if they do not contain it.
 */
export function imageSizeOf(bytes: Uint8Array): ImageSize | null {
  try {
    const { width, height, orientation = 1 } = imageSize(bytes);
    if (!(width >= 1 && height >= 1)) return null;
    // Cameras store upright pictures lying on their side.
    return orientation > 4 ? { width: height, height: width } : { width, height };
  } catch {
    return null;
  }
}
