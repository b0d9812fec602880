import { backoffMs } from '../../shared/platform/backoff.ts';
import { windowHeight } from '../visible-area.ts';

/** The script for pages that show hosted lessons: docs/embed.md tells it to integrators; the two are kept in step. */

/** What a lesson tells the page around it. */
export type EmbedEvent =
  | {
      type: 'ready';
      lessonId: string;
      versionId: string;
      title: string;
      totalSteps: number;
      status: 'not_started' | 'in_progress' | 'completed';
    }
  /** The lesson is this many CSS pixels high. */
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
  /** The lesson was finished, and that is saved. Points are the server's. */
  | {
      type: 'complete';
      lessonId: string;
      versionId: string;
      score: number | null;
      maxScore: number | null;
      completedAt: string | null;
    }
  | { type: 'error'; code: string; message: string }
  /** The token ends soon, has ended, or (`expiresAt` is null) is needed before anything can be shown. */
  | { type: 'token.expiring'; expiresAt: string | null };

export interface EmbedOptions {
  /** The lesson's id. Give this or `src`. */
  lessonId?: string;
  /** The learner's token. Left out, `getToken` is asked. */
  token?: string;
  /** Address of the embed page, instead of lesson id and token. */
  src?: string;
  /** Where Lectern is; left out, where this script came from. */
  base?: string;
  /** Gives a token of the same learner when one is needed. */
  getToken?(this: void): string | Promise<string>;
  /** What the frame is called for those who cannot see it; left out, the lesson's title. */
  title?: string;
  /** CSS pixels that the frame is high at least; 320 unless given. */
  minHeight?: number;
  /** Id of the step to start at, instead of where the learner was. */
  startAt?: string;
  onEvent?(this: void, event: EmbedEvent): void;
}

/** A lesson on the page. */
export interface Embed {
  iframe: HTMLIFrameElement;
  /** Another token of the same learner, before or after the first one has ended. */
  setToken(this: void, token: string): void;
  goTo(this: void, stepId: string): void;
  /** Takes the lesson off the page. */
  destroy(this: void): void;
}

/** Milliseconds between tries to get a token, the first and the longest, and that one may take. */
const backoff = { firstMs: 1000, maxMs: 60_000 };
const tokenTimeout = 30_000;

const script = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : undefined;

/**
 * Puts a lesson into an element, as its last child, and keeps the frame as high as the lesson. Events are passed to
 * `onEvent` and dispatched on the element, as `lectern:ready` and so on, with the event as `detail`.
 *
 * @throws a TypeError without a lesson, or for an address that is not http or https
 */
export function mount(element: HTMLElement, options: EmbedOptions): Embed {
  const address = addressOf(options);
  const { title = 'Lesson', minHeight = 320 } = options;
  const iframe = document.createElement('iframe');
  const waiting: object[] = [];
  let isHeard = false;
  let isReady = false;
  /** The step that was asked for before the lesson was ready: each page that is loaded until then has to know. */
  let wanted: string | undefined;
  let isRenewing = false;
  /** Of getToken. One that another token has overtaken changes nothing. */
  let calls = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let isDelayed = false;

  function post(message: object): void {
    iframe.contentWindow?.postMessage({ source: 'lectern', v: 1, ...message }, address.origin);
  }

  function send(message: object): void {
    if (isHeard) post(message);
    else waiting.push(message);
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

  /** Asks for a token until there is one: the integrator's server may be away for a moment. */
  async function renew(getToken: NonNullable<EmbedOptions['getToken']>, failures = 0): Promise<void> {
    isRenewing = true;
    const call = (calls += 1);
    try {
      const token = await inTime(getToken());
      if (call !== calls) return;
      if (!isToken(token)) throw new Error('getToken did not return a token');
      setToken(token);
    } catch (error) {
      if (call !== calls) return;
      isDelayed = true;
      if (isHeard) post({ type: 'tokenDelayed' });
      retry = setTimeout(() => void renew(getToken, failures + 1), backoffMs(backoff, failures));
      handle({ type: 'error', code: 'token_not_given', message: String(error) });
    }
  }

  function handle(event: EmbedEvent): void {
    if (event.type === 'resize') iframe.style.height = `${Math.max(minHeight, event.height)}px`;
    if (event.type === 'ready' && options.title === undefined) iframe.title = event.title;
    // A new step begins at its top, which may be far above what is on the screen.
    if (event.type === 'step' && iframe.getBoundingClientRect().top < 0) iframe.scrollIntoView();
    if (event.type === 'ready') isReady = true;
    if (event.type === 'token.expiring' && options.getToken && !isRenewing) void renew(options.getToken);
    element.dispatchEvent(new CustomEvent(`lectern:${event.type}`, { bubbles: true, detail: event }));
    options.onEvent?.(event);
  }

  /** The lesson cannot know: its frame is as high as itself. */
  function tellHeight(): void {
    if (isHeard) post({ type: 'viewport', height: windowHeight() });
  }

  function onMessage({ source, origin, data }: MessageEvent<unknown>): void {
    if (source !== iframe.contentWindow || origin !== address.origin) return;
    const { source: name, v, ...event } = (data ?? {}) as Record<string, unknown>;
    if (name !== 'lectern' || v !== 1) return;
    if (event.type !== 'hello') return handle(event as EmbedEvent);
    // A page that is loaded anew says hello once more.
    isHeard = true;
    post({ type: 'hello' });
    tellHeight();
    if (isDelayed) post({ type: 'tokenDelayed' });
    if (!isReady && wanted !== undefined) post({ type: 'goTo', stepId: wanted });
    waiting.splice(0).forEach(post);
  }

  addEventListener('message', onMessage);
  addEventListener('resize', tellHeight);
  iframe.title = title;
  iframe.allow = 'fullscreen; autoplay';
  iframe.referrerPolicy = 'no-referrer';
  Object.assign(iframe.style, { display: 'block', width: '100%', height: `${minHeight}px`, border: '0' });
  iframe.src = address.href;
  element.append(iframe);

  return {
    iframe,
    setToken,
    goTo(stepId) {
      wanted = stepId;
      if (isHeard) post({ type: 'goTo', stepId });
    },
    destroy() {
      stopRenewing();
      removeEventListener('message', onMessage);
      removeEventListener('resize', tellHeight);
      iframe.remove();
    },
  };
}

/** @throws after {@link tokenTimeout} */
async function inTime<T>(value: T | Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('getToken took too long')), tokenTimeout);
  });
  return Promise.race([value, late]).finally(() => clearTimeout(timer));
}

/** Whether it looks like a token: a server that fails may answer with a page instead. */
function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\w-]+(\.[\w-]+){2}$/.test(value);
}

function addressOf({ src, base = script, lessonId, token, getToken, startAt }: EmbedOptions): URL {
  if (src === undefined && lessonId === undefined)
    throw new TypeError('LecternEmbed needs a lessonId or a src');
  const address = new URL(src ?? `embed/${encodeURIComponent(lessonId ?? '')}`, base ?? document.baseURI);
  if (!/^https?:$/.test(address.protocol))
    throw new TypeError('LecternEmbed needs an address with http or https');
  if (token) address.searchParams.set('token', token);
  // Somebody else may have been at this tab before: what the page has kept then does not count.
  else if (getToken && !address.searchParams.has('token')) address.searchParams.set('ask', '');
  if (startAt) address.hash = new URLSearchParams({ step: startAt }).toString();
  return address;
}

/** Every `<div data-lectern-embed="lesson id" data-token="...">` becomes a lesson; `data-src` and `data-title` work too. */
function mountAll(): void {
  for (const element of document.querySelectorAll<HTMLElement>(
    '[data-lectern-embed]:not([data-lectern-mounted])',
  )) {
    const { lecternEmbed, token, src, title } = element.dataset;
    element.dataset.lecternMounted = '';
    mount(element, {
      ...(lecternEmbed && { lessonId: lecternEmbed }),
      ...(token && { token }),
      ...(src && { src }),
      ...(title && { title }),
    });
  }
}

if (document.readyState === 'loading') addEventListener('DOMContentLoaded', mountAll);
else mountAll();
