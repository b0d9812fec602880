import { imageSize } from 'image-size';
import type { PictureSize } from '../lessons/picture-size.ts';

/** In these first bytes, a file says its size: cameras put other data before it. */
export const maxPictureHeadBytes = 256 * 1024;

/**
 * Returns the size at which browsers show a picture, from the first bytes of its file; null if they do not contain it.
 */
export function imageSizeOf(bytes: Uint8Array): PictureSize | null {
  try {
    const { width, height, orientation = 1, type } = imageSize(bytes);
    if (!(width >= 1 && height >= 1)) return null;
    // Cameras store upright pictures lying on their side.
    const [across, down] = orientation > 4 ? [height, width] : [width, height];
    const isFluid = type === 'svg' && !hasOwnSize(Buffer.from(bytes).toString('latin1'));
    return { width: Math.round(across), height: Math.round(down), ...(isFluid && { isFluid }) };
  } catch {
    return null;
  }
}

/** Returns whether a drawing says how large it is. Browsers fit others to their container. */
function hasOwnSize(drawing: string): boolean {
  const [root = ''] = /<(?:\w+:)?svg\b[^>]*/i.exec(drawing) ?? [];
  return /\s(?:width|height)\s*=\s*["']\s*[\d.]+(?!\s*%)[a-z]*\s*["']/.test(root);
}
