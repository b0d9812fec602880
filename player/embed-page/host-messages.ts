import { readScheme } from '../../shared/theme/tokens.ts';
import type { Scheme } from '../../shared/theme/tokens.ts';
import type { JsonObject } from './session-record.ts';

/** Events for the host page, which frames this one (docs/embed.md). */
export interface HostEvent extends JsonObject {
  type: 'ready' | 'resize' | 'step' | 'complete' | 'error' | 'token.expiring';
}

/** Requests of the host page. */
export type HostRequest =
  | { type: 'hello' }
  | { type: 'setToken'; token: string }
  /** The host has no token yet, and retries. */
  | { type: 'tokenDelayed' }
  | Viewport
  /** The color scheme of the host page; undefined for that of the device. */
  | { type: 'colorScheme'; scheme: Scheme | undefined }
  /** The stylesheet of a theme that is not saved, from the console only. */
  | { type: 'theme'; css: string }
  | { type: 'goTo'; stepId: string };

/** The visible part of the host page, in CSS pixels. */
export interface Viewport {
  type: 'viewport';
  /** The height of the window, or of its part below a fixed header. */
  height: number;
  /** The part of this frame that is on the screen, from the frame's top. Missing if the host does not know. */
  part?: { top: number; bottom: number };
}

const maxTokenChars = 16 * 1024;

/** Reads a request of the host; undefined for anything else. */
export function readHostRequest(data: unknown): HostRequest | undefined {
  const { source, v, type, token, stepId, height, top, bottom, scheme, css } = (data ?? {}) as JsonObject;
  if (source !== 'lectern' || v !== 1) return undefined;
  if (type === 'hello' || type === 'tokenDelayed') return { type };
  if (type === 'setToken' && typeof token === 'string' && token !== '' && token.length <= maxTokenChars) {
    return { type, token };
  }
  if (type === 'viewport' && isPixels(height) && height > 0) {
    const isPart = isPixels(top) && isPixels(bottom) && top <= bottom;
    return { type, height, ...(isPart && { part: { top, bottom } }) };
  }
  if (type === 'theme' && typeof css === 'string') return { type, css };
  if (type === 'colorScheme') return { type, scheme: readScheme(scheme) };
  return type === 'goTo' && typeof stepId === 'string' ? { type, stepId } : undefined;
}

function isPixels(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}
