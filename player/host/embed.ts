import { backoffMs } from '../../shared/platform/backoff.ts';
import { windowHeight } from '../visible-area.ts';

/** The script for pages that frame hosted lessons. Keep docs/embed.md, its documentation for integrators, up to date. */

/** An event from a lesson. */
export type EmbedEvent =
  | {
      type: 'ready';
      lessonId: string;
      versionId: string;
      title: string;
      totalSteps: number;
      status: 'not_started' | 'in_progress' | 'completed';
    }
  /** The lesson's height in CSS pixels. */
  | { type: 'resize'; height: number }
  | {
      type: 'step';
      lessonId: string;
      versionId: string;
      /** From zero, in playing order. */
      sectionIndex: number;
      stepIndex: number;
      stepId: string;
      totalSteps: number;
      status: 'in_progress' | 'completed';
    }
  /** The completed lesson is saved. The server computes the score. */
  | {
      type: 'complete';
      lessonId: string;
      versionId: string;
      score: number | null;
      maxScore: number | null;
      completedAt: string | null;
    }
  | { type: 'error'; code: string; message: string }
  /** The token expires soon or has expired; or (`expiresAt` is null) the lesson needs one to start. */
  | { type: 'token.expiring'; expiresAt: string | null };

export interface EmbedOptions {
  /** The lesson's id. Give this or `src`. */
  lessonId?: string;
  /** The learner's token; without it, `getToken` provides one. */
  token?: string;
  /** URL of the embed page, instead of lesson id and token. */
  src?: string;
  /** Lectern's base URL; by default this script's origin. */
  base?: string;
  /** Returns a token of the same learner, whenever one is needed. */
  getToken?(this: void): string | Promise<string>;
  /** Accessible name of the frame; by default the lesson's title. */
  title?: string;
  /** Minimum height of the frame in CSS pixels; 320 by default. */
  minHeight?: number;
  /**
   * Height of the part of the window that is covered from the top, such as by a fixed header, in CSS pixels; 0 by
   * default.
   */
  topOffset?: number | ((this: void) => number);
  /**
   * The color scheme of the lesson. `page` is the CSS `color-scheme` of the element that the frame is in. By default, the
   * organization's theme decides, or else the device.
   */
  colorScheme?: 'light' | 'dark' | 'page';
  /** Id of the step to start at, instead of the learner's last one. */
  startAt?: string;
  onEvent?(this: void, event: EmbedEvent): void;
}

/** A lesson on the page. */
export interface Embed {
  iframe: HTMLIFrameElement;
  /** Replaces the token with another one of the same learner, before or after it has expired. */
  setToken(this: void, token: string): void;
  goTo(this: void, stepId: string): void;
  /** Shows the lesson in another color scheme, such as when learners switch the page's. `page` reads it again. */
  setColorScheme(this: void, scheme: EmbedOptions['colorScheme']): void;
  /** Removes the lesson from the page. */
  destroy(this: void): void;
}

/** Backoff between calls of `getToken` that fail. */
const backoff = { firstMs: 1000, maxMs: 60_000 };
const tokenTimeoutMs = 30_000;

const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : undefined;

/**
 * Appends a frame with a lesson to an element, and keeps it as high as the lesson. It passes events to `onEvent` and
 * dispatches them on the element, as `lectern:ready` and so on, with the event as `detail`.
 *
 * @throws {TypeError} without a lesson, or for a URL that is not http or https
 */
export function mount(element: HTMLElement, options: EmbedOptions): Embed {
  const url = embedUrl(options);
  let scheme = schemeOf(element, options.colorScheme);
  if (scheme) url.searchParams.set('scheme', scheme);
  const { title = 'Lesson', minHeight = 320, topOffset = 0 } = options;
  const iframe = document.createElement('iframe');
  /** Messages for the lesson's page, until its script runs. */
  const queued: object[] = [];
  let isListening = false;
  let isViewSent = false;
  let isReady = false;
  /** The last requested step. Each page that loads before the lesson is ready gets it. */
  let requestedStep: string | undefined;
  let isRenewing = false;
  /** The number of calls of getToken. The result of an outdated call is ignored. */
  let calls = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let isDelayed = false;
  /** Whether the scheme was set after the frame's URL. */
  let isSchemeSet = false;

  function post(message: object): void {
    iframe.contentWindow?.postMessage({ source: 'lectern', v: 1, ...message }, url.origin);
  }

  function send(message: object): void {
    if (isListening) post(message);
    else queued.push(message);
  }

  function stopRenewing(): void {
    clearTimeout(retry);
    calls += 1;
    isRenewing = false;
  }

  function setToken(token: string): void {
    stopRenewing();
    isDelayed = false;
    send({ type: 'setToken', token });
  }

  /** Calls getToken until it returns a token, because the integrator's server may be down for a moment. */
  async function renew(getToken: NonNullable<EmbedOptions['getToken']>, failures = 0): Promise<void> {
    isRenewing = true;
    const call = (calls += 1);
    try {
      const token = await withTimeout(getToken());
      if (call !== calls) return;
      if (!isToken(token)) throw new Error('getToken did not return a token');
      setToken(token);
    } catch (error) {
      if (call !== calls) return;
      isDelayed = true;
      if (isListening) post({ type: 'tokenDelayed' });
      retry = setTimeout(() => void renew(getToken, failures + 1), backoffMs(backoff, failures));
      handle({ type: 'error', code: 'token_not_given', message: String(error) });
    }
  }

  function handle(event: EmbedEvent): void {
    if (event.type === 'resize') {
      iframe.style.height = `${Math.max(minHeight, event.height)}px`;
      sendView();
    }
    if (event.type === 'ready' && options.title === undefined) iframe.title = event.title;
    // The top of the new step may be far above the visible part.
    if (event.type === 'step' && iframe.getBoundingClientRect().top < offset()) {
      iframe.style.scrollMarginTop = `${offset()}px`;
      iframe.scrollIntoView();
    }
    if (event.type === 'ready') isReady = true;
    if (event.type === 'token.expiring' && options.getToken && !isRenewing) void renew(options.getToken);
    element.dispatchEvent(new CustomEvent(`lectern:${event.type}`, { bubbles: true, detail: event }));
    options.onEvent?.(event);
  }

  function offset(): number {
    return typeof topOffset === 'number' ? topOffset : topOffset();
  }

  /** Reports the visible part of the frame, which cannot measure it, because it is as high as the lesson. */
  function sendView(): void {
    if (!isListening || isViewSent) return;
    isViewSent = true;
    // At most once for each frame that the browser paints.
    requestAnimationFrame(() => {
      isViewSent = false;
      const { top, bottom } = visibleRange(iframe, offset());
      const frameTop = iframe.getBoundingClientRect().top;
      const height = windowHeight() - offset();
      post({ type: 'viewport', height, top: top - frameTop, bottom: bottom - frameTop });
    });
  }

  function onMessage({ source, origin, data }: MessageEvent<unknown>): void {
    if (source !== iframe.contentWindow || origin !== url.origin) return;
    const { source: name, v, ...event } = (data ?? {}) as Record<string, unknown>;
    if (name !== 'lectern' || v !== 1) return;
    if (event.type !== 'hello') return handle(event as EmbedEvent);
    // After a reload, the lesson's page sends another hello.
    isListening = true;
    post({ type: 'hello' });
    sendView();
    if (isSchemeSet) post({ type: 'colorScheme', scheme });
    if (isDelayed) post({ type: 'tokenDelayed' });
    if (!isReady && requestedStep !== undefined) post({ type: 'goTo', stepId: requestedStep });
    queued.splice(0).forEach(post);
  }

  addEventListener('message', onMessage);
  addEventListener('resize', sendView);
  // In the capture phase, for parts of the page that scroll.
  addEventListener('scroll', sendView, { capture: true, passive: true });
  iframe.title = title;
  iframe.allow = 'fullscreen; autoplay';
  iframe.referrerPolicy = 'no-referrer';
  Object.assign(iframe.style, { display: 'block', width: '100%', height: `${minHeight}px`, border: '0' });
  iframe.src = url.href;
  element.append(iframe);

  return {
    iframe,
    setToken,
    goTo(stepId) {
      requestedStep = stepId;
      if (isListening) post({ type: 'goTo', stepId });
    },
    setColorScheme(next) {
      scheme = schemeOf(element, next);
      isSchemeSet = true;
      if (isListening) post({ type: 'colorScheme', scheme });
    },
    destroy() {
      stopRenewing();
      removeEventListener('message', onMessage);
      removeEventListener('resize', sendView);
      removeEventListener('scroll', sendView, { capture: true });
      iframe.remove();
    },
  };
}

/** Returns the color scheme to show; undefined for that of the theme or the device. */
function schemeOf(element: Element, option: EmbedOptions['colorScheme']): 'light' | 'dark' | undefined {
  // Such as "normal", "light dark", "only light" or "dark".
  const wanted = option === 'page' ? getComputedStyle(element).colorScheme : option;
  const names = (wanted ?? '').split(' ').filter((name) => name === 'light' || name === 'dark');
  return names.length === 1 ? names[0] : undefined;
}

/** Returns the part of the window in which an element may be seen, below a header of this height. CSS pixels. */
function visibleRange(element: Element, headerHeight: number): { top: number; bottom: number } {
  let [top, bottom] = [headerHeight, innerHeight];
  for (let parent = element.parentElement; parent !== null; parent = parent.parentElement) {
    // The page's own scroll bar is part of the window.
    if (parent === document.documentElement || parent === document.body) continue;
    if (getComputedStyle(parent).overflowY === 'visible') continue;
    const box = parent.getBoundingClientRect();
    top = Math.max(top, box.top);
    bottom = Math.min(bottom, box.bottom);
  }
  return { top, bottom };
}

/** @throws {Error} after {@link tokenTimeoutMs} */
async function withTimeout<T>(value: T | Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('getToken took too long')), tokenTimeoutMs);
  });
  return Promise.race([value, timeout]).finally(() => clearTimeout(timer));
}

/** Returns whether a value looks like a token: a failing server may respond with a page instead. */
function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]+(\.[\w-]+){2}$/.test(value);
}

function embedUrl({ src, base = script, lessonId, token, getToken, startAt }: EmbedOptions): URL {
  if (src === undefined && lessonId === undefined)
    throw new TypeError('LecternEmbed needs a lessonId or a src');
  const url = new URL(src ?? `embed/${encodeURIComponent(lessonId ?? '')}`, base ?? document.baseURI);
  if (!/^https?:$/.test(url.protocol))
    throw new TypeError(`LecternEmbed needs an http or https URL, not ${url.href}`);
  if (token) url.searchParams.set('token', token);
  // The tab may hold another learner's token, so the page must request one.
  else if (getToken && !url.searchParams.has('token')) url.searchParams.set('ask', '');
  if (startAt) url.hash = new URLSearchParams({ step: startAt }).toString();
  return url;
}

/** Mounts a lesson in every `<div data-lectern-embed="lesson id" data-token="...">`; `data-src`, `data-title`, `data-top-offset` and `data-color-scheme` work, too. */
function mountAll(): void {
  for (const element of document.querySelectorAll<HTMLElement>(
    '[data-lectern-embed]:not([data-lectern-mounted])',
  )) {
    const { lecternEmbed, token, src, title, topOffset, colorScheme } = element.dataset;
    element.dataset.lecternMounted = '';
    mount(element, {
      ...(lecternEmbed && { lessonId: lecternEmbed }),
      ...(token && { token }),
      ...(src && { src }),
      ...(title && { title }),
      ...(topOffset && { topOffset: Number(topOffset) || 0 }),
      ...(colorScheme && { colorScheme: colorScheme as NonNullable<EmbedOptions['colorScheme']> }),
    });
  }
}

if (document.readyState === 'loading') addEventListener('DOMContentLoaded', mountAll);
else mountAll();
