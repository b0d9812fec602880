import { computed, signal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { base } from './api.ts';

/** The path of the console: '/console', or '/lectern/console' if Lectern has a path. */
const root = `${new URL(base).pathname.replace(/\/$/, '')}/console`;

/** The state of the browser's history: how many pages of the console lie before this one. */
interface HistoryState {
  depth: number;
}

const url = signal(new URL(location.href));

/** The path within the console, such as '/lessons'. */
export const path = computed(() => url.value.pathname.slice(root.length).replace(/\/$/, '') || '/');

function historyState(): HistoryState {
  return (history.state as HistoryState | null) ?? { depth: 0 };
}

/** Returns the href of a path within the console. */
export function hrefOf(to: string): string {
  return root + (to === '/' ? '' : to);
}

/** Opens a path of the console. @param options.replace does not add a step to the history */
export function navigate(to: string, { replace = false } = {}): void {
  const { depth } = historyState();
  if (replace) history.replaceState({ depth } satisfies HistoryState, '', hrefOf(to));
  else history.pushState({ depth: depth + 1 } satisfies HistoryState, '', hrefOf(to));
  const before = path.value;
  url.value = new URL(location.href);
  if (path.value !== before) scrollTo(0, 0);
}

/** Follows Back and Forward, and makes links within the console change the page without loading it. */
export function startRouter(): void {
  addEventListener('popstate', () => {
    url.value = new URL(location.href);
  });
  // Back after a logout must not show what the browser has kept of the page.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });
  addEventListener('click', (event) => {
    const { target, button, metaKey, ctrlKey, shiftKey, altKey, defaultPrevented } = event;
    const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href]') : null;
    if (link === null || defaultPrevented || button !== 0 || metaKey || ctrlKey || shiftKey || altKey) return;
    const { origin, pathname, search } = new URL(link.href);
    const isOwn = origin === location.origin && (pathname === root || pathname.startsWith(`${root}/`));
    if (!isOwn || link.target !== '' || link.hasAttribute('download')) return;
    event.preventDefault();
    navigate((pathname.slice(root.length) || '/') + search);
  });
}

/** A link within the console. */
export function Link({
  to,
  children,
  ...rest
}: {
  to: string;
  class?: string;
  'aria-current'?: 'page' | undefined;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <a {...rest} href={hrefOf(to)}>
      {children}
    </a>
  );
}

/** The query of the URL, which holds the state of lists: filters, order, page. */
export const query = computed(() => Object.fromEntries(url.value.searchParams));

/**
 * Changes parameters of the query; '' and undefined remove one.
 *
 * @param options.replace for texts that change while the user types
 */
export function setQuery(
  changes: Record<string, string | undefined>,
  options: { replace?: boolean } = {},
): void {
  navigate(path.value + searchOf({ ...query.value, ...changes }), options);
}

/** Returns a query with a question mark, without empty parameters; '' if none is left. */
export function searchOf(parameters: Record<string, string | undefined>): string {
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/** Returns the parameters of a pattern such as '/lessons/:lessonId' in a path; null if the path does not match. */
export function matchPath(pattern: string, given: string): Record<string, string> | null {
  const [expected, actual] = [pattern.split('/'), given.split('/')];
  if (expected.length !== actual.length) return null;
  const found: Record<string, string> = {};
  for (const [index, part] of expected.entries()) {
    const value = actual[index] ?? '';
    if (part.startsWith(':')) found[part.slice(1)] = safeDecode(value);
    else if (part !== value) return null;
  }
  return found;
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
