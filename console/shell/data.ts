import { signal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks';
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

interface State {
  data: unknown;
  error: ApiError | undefined;
  isLoading: boolean;
}

/** A response that is loaded again and again, also while an earlier request still runs. */
interface Entry {
  state: Signal<State>;
  /** The number of requests so far. */
  requests: number;
  /** The number of the request whose response is shown: a late one of an earlier request does not replace it. */
  shown: number;
}

/** Responses by request, so that Back shows a page at once; it is then loaded again. */
const entries = new Map<string, Entry>();
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
  // A page keeps its entry, even if others have displaced it from the cache. The key stands for the request.
  const entry = useMemo(() => (key === null ? null : entryOf(key)), [key]);
  const reload = useCallback(async () => {
    if (entry !== null && route !== null) await load(entry, route, request);
  }, [entry]);
  useEffect(() => void reload(), [reload]);
  const everyMs = repeat(entry?.state.value.data as Result<R> | undefined);
  useEffect(() => {
    if (everyMs === 0) return undefined;
    const timer = setInterval(() => document.visibilityState === 'visible' && void reload(), everyMs);
    return () => clearInterval(timer);
  }, [reload, everyMs]);
  // Another query of the same list may show the rows of the last one meanwhile; another object may not.
  const list = route === null ? '' : `${route} ${JSON.stringify(request.params)}`;
  const previous = useRef<{ list: string; data: Result<R> } | undefined>(undefined);
  const current = entry?.state.value;
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

function entryOf(key: string): Entry {
  const known = entries.get(key);
  if (known !== undefined) return known;
  const [oldest] = entries.keys();
  if (entries.size >= maxEntries && oldest !== undefined) entries.delete(oldest);
  const state = signal<State>({ data: undefined, error: undefined, isLoading: true });
  const made = { state, requests: 0, shown: 0 };
  entries.set(key, made);
  return made;
}

async function load<R extends Route>(entry: Entry, route: R, options: RequestOptions<R>): Promise<void> {
  const { state } = entry;
  const own = (entry.requests += 1);
  state.value = { ...state.peek(), isLoading: true };
  const show = (changes: Partial<State>) => {
    if (own < entry.shown) return;
    entry.shown = own;
    state.value = { ...state.peek(), ...changes, isLoading: own !== entry.requests };
  };
  try {
    const { body } = await send(route, options);
    show({ data: body, error: undefined });
  } catch (error) {
    show(error instanceof ApiError ? { error } : {});
    if (!(error instanceof ApiError)) throw error;
  }
}
