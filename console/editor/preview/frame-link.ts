import { readFromEditFrame } from '../../../shared/lessons/preview-messages.ts';
import type { FromEditFrame, Look, ToEditFrame } from '../../../shared/lessons/preview-messages.ts';

/** The connection with the frame of the preview. */
export interface FrameLink {
  /** Does nothing until the frame is ready. */
  post(this: void, message: ToEditFrame): void;
  close(this: void): void;
}

/**
 * Loads the preview's page in its frame, and connects with it. The frame's origin is opaque: messages are the only way in
 * and out. Only those of the port count, which no other window has, and no widget inside the frame.
 *
 * @param on.ready called each time the frame has loaded
 */
export function connectFrame(
  iframe: HTMLIFrameElement,
  url: string,
  look: () => Look,
  on: { ready: () => void; message: (message: FromEditFrame) => void },
): FrameLink {
  let port: MessagePort | undefined;

  function greet({ source, data }: MessageEvent<unknown>): void {
    if (source === null || source !== iframe.contentWindow || !isHello(data)) return;
    port?.close();
    const channel = new MessageChannel();
    port = channel.port1;
    port.onmessage = (event: MessageEvent<unknown>) => {
      const message = readFromEditFrame(event.data);
      if (message !== undefined) on.message(message);
    };
    const start: ToEditFrame = { type: 'look', ...look() };
    // No target origin matches an opaque origin. The console's policy lets the frame contain only Lectern's own pages.
    iframe.contentWindow.postMessage(start, '*', [channel.port2]);
    on.ready();
  }

  addEventListener('message', greet);
  iframe.src = url;
  return {
    post: (message) => port?.postMessage(message),
    close() {
      removeEventListener('message', greet);
      port?.close();
    },
  };
}

function isHello(data: unknown): boolean {
  const { source, v, type } = (data ?? {}) as Record<string, unknown>;
  return source === 'lectern-edit-frame' && v === 1 && type === 'hello';
}
