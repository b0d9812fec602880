/** What a page asks the platform's storage for (1EdTech LTI Client Side postMessages and Platform Storage 0.1). */
export interface StorageRequest {
  subject: 'lti.put_data' | 'lti.get_data';
  messageId: string;
  /** The name of the frame that keeps data, or `_parent`. */
  target: string;
  /** Its origin; nobody else is asked or heard. */
  origin: string;
  key: string;
  value?: string;
  milliseconds: number;
  /** Where the page goes on, if the storage has kept the value; without it, the page sends its form. */
  next?: string;
}

/** Undefined on a page that the server made without one. */
export function readRequest(page: Document): StorageRequest | undefined {
  const text = page.getElementById('lectern-storage')?.textContent;
  return text ? (JSON.parse(text) as StorageRequest) : undefined;
}

/** What the platform's storage has under the key. */
export interface StorageAnswer {
  value: string | undefined;
}

/** Undefined when the storage says that it cannot do what it was asked for, or nothing in time. */
export function askStorage(
  page: Window,
  { subject, messageId, target, origin, key, value, milliseconds }: StorageRequest,
): Promise<StorageAnswer | undefined> {
  const storage = storageOf(page, target);
  if (storage === undefined) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const end = (answer: StorageAnswer | undefined) => {
      page.removeEventListener('message', hear);
      clearTimeout(timer);
      resolve(answer);
    };
    const hear = (event: MessageEvent<unknown>) => {
      if (event.source !== storage || event.origin !== origin) return;
      const { subject: answered, message_id, error, ...said } = (event.data ?? {}) as Record<string, unknown>;
      if (answered !== `${subject}.response` || message_id !== messageId) return;
      const has = typeof said.value === 'string' ? said.value : undefined;
      end((error ?? undefined) === undefined ? { value: has } : undefined);
    };
    const timer = setTimeout(end, milliseconds, undefined);
    page.addEventListener('message', hear);
    storage.postMessage(
      { subject, message_id: messageId, key, ...(value !== undefined && { value }) },
      origin,
    );
  });
}

/** The window that keeps data: a frame of the platform's page, or that page. */
function storageOf(page: Window, target: string): Window | undefined {
  const around = page.parent === page ? (page.opener as Window | null) : page.parent;
  if (around === null) return undefined;
  if (target === '_parent') return around;
  try {
    // Of a page of another origin the frames can be reached by their names; a name may also be that of something else.
    const named = (around.frames as unknown as Record<string, Window | undefined>)[target];
    return typeof named?.postMessage === 'function' ? named : around;
  } catch {
    return around;
  }
}
