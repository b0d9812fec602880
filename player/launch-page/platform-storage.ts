/** A request to the platform's storage (1EdTech LTI Client Side postMessages and Platform Storage 0.1). */
export interface StorageRequest {
  subject: 'lti.put_data' | 'lti.get_data';
  messageId: string;
  /** The name of the frame with the storage, or `_parent`. */
  target: string;
  /** The origin of that frame. The page exchanges messages with no other. */
  origin: string;
  key: string;
  value?: string;
  /** The timeout. */
  milliseconds: number;
  /** The URL to open once the value is stored; without one, the page submits its form. */
  next?: string;
}

/** Reads the request in a page; undefined if there is none. */
export function readRequest(page: Document): StorageRequest | undefined {
  const text = page.getElementById('lectern-storage')?.textContent;
  return text ? (JSON.parse(text) as StorageRequest) : undefined;
}

export interface StorageResponse {
  value: string | undefined;
}

/** Sends a request to the storage. Resolves with undefined if it reports an error or does not respond in time. */
export function requestStorage(
  page: Window,
  { subject, messageId, target, origin, key, value, milliseconds }: StorageRequest,
): Promise<StorageResponse | undefined> {
  const storage = storageOf(page, target);
  if (storage === undefined) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const settle = (response: StorageResponse | undefined) => {
      page.removeEventListener('message', receive);
      clearTimeout(timer);
      resolve(response);
    };
    const receive = (event: MessageEvent<unknown>) => {
      if (event.source !== storage || event.origin !== origin) return;
      const {
        subject: responseTo,
        message_id,
        error,
        value: stored,
      } = (event.data ?? {}) as Record<string, unknown>;
      if (responseTo !== `${subject}.response` || message_id !== messageId) return;
      const hasFailed = error !== undefined && error !== null;
      settle(hasFailed ? undefined : { value: typeof stored === 'string' ? stored : undefined });
    };
    const timer = setTimeout(settle, milliseconds, undefined);
    page.addEventListener('message', receive);
    storage.postMessage(
      { subject, message_id: messageId, key, ...(value !== undefined && { value }) },
      origin,
    );
  });
}

/** Returns the window with the storage: a frame of the platform's page, or that page. */
function storageOf(page: Window, target: string): Window | undefined {
  const platform = page.parent === page ? (page.opener as Window | null) : page.parent;
  if (platform === null) return undefined;
  if (target === '_parent') return platform;
  try {
    // Frames of a page of another origin are accessible by name, but the name may also be that of a property of a window.
    const named = (platform.frames as unknown as Record<string, Window | undefined>)[target];
    return typeof named?.postMessage === 'function' ? named : platform;
  } catch {
    return platform;
  }
}
