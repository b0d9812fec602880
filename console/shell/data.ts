import { signal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { useCallback, useEffect, useRef } from 'preact/hooks';
import { ApiError, send } from './api.ts';
import type { RequestOptions, Result, Route } from './api.ts';

/** What a page knows of a response. */
export interface Loaded<T> {
  /** Undefined until the first response. While a page loads other rows, those of the previous request. */
  data: T | undefined;
  error: ApiError | undefined;
  isLoading: boolean;
  reload: () => Promise<void>;
}

interface Entry {
  data: unknown;
  error: ApiError | undefined;
  isLoading: boolean;
}

/** Responses by request, so that Back shows a page at once; it is then loaded again. */
const entries = new Map<string, Signal<Entry>>();
const maxEntries = 200;

/**
 * Loads a response and keeps it up to date.
 *
 * @param route null loads nothing
 * @param options.everyMs returns after which time to load it again; 0 for never
 */
export function useData<R extends Route>(
  route: R | null,
  request: Pick<RequestOptions<R>, 'params' | 'query'> = {},
  { everyMs: repeat = () => 0 }: { everyMs?: (data: Result<R> | undefined) => number } = {},
): Loaded<Result<R>> {
  const key = route === null ? null : `${route} ${JSON.stringify(request)}`;
  const entry = key === null ? null : entryOf(key);
  const reload = useCallback(async () => {
    if (key !== null && route !== null) await load(entryOf(key), route, request);
    // The key stands for the request.
  }, [key]);
  useEffect(() => void reload(), [reload]);
  const everyMs = repeat(entry?.value.data as Result<R> | undefined);
  useEffect(() => {
    if (everyMs === 0) return undefined;
    const timer = setInterval(() => document.visibilityState === 'visible' && void reload(), everyMs);
    return () => clearInterval(timer);
  }, [reload, everyMs]);
  // Another query of the same list may show the rows of the last one meanwhile; another object may not.
  const list = route === null ? '' : `${route} ${JSON.stringify(request.params)}`;
  const previous = useRef<{ list: string; data: Result<R> } | undefined>(undefined);
  const current = entry?.value;
  const data = current?.data as Result<R> | undefined;
  if (data !== undefined) previous.current = { list, data };
  const earlier = previous.current?.list === list ? previous.current.data : undefined;
  return {
    data: data ?? (current?.error === undefined ? earlier : undefined),
    error: data === undefined ? current?.error : undefined,
    isLoading: current?.isLoading ?? false,
    reload,
  };
}

function entryOf(key: string): Signal<Entry> {
  const known = entries.get(key);
  if (known !== undefined) return known;
  const [oldest] = entries.keys();
  if (entries.size >= maxEntries && oldest !== undefined) entries.delete(oldest);
  const made = signal<Entry>({ data: undefined, error: undefined, isLoading: true });
  entries.set(key, made);
  return made;
}

async function load<R extends Route>(
  entry: Signal<Entry>,
  route: R,
  options: RequestOptions<R>,
): Promise<void> {
  entry.value = { ...entry.peek(), isLoading: true };
  try {
    const { body } = await send(route, options);
    entry.value = { data: body, error: undefined, isLoading: false };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    entry.value = { data: entry.peek().data, error, isLoading: false };
  }
}
