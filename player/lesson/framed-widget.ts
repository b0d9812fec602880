import { message, textDirection } from '../../shared/i18n/message.ts';
import { parseUrl } from '../../shared/platform/parse-url.ts';
import { tokenNames } from '../../shared/theme/tokens.ts';
import { element } from '../dom.ts';
import { abortAfter } from '../older-browsers.ts';
import { blocks as readBlocks } from '../props.ts';
import { windowHeight } from '../visible-area.ts';
import { readFromFrame } from '../widget-frame/messages.ts';
import type { FrameInit, FromFrame, Look, ToFrame } from '../widget-frame/messages.ts';
import type { MountedWidget, MountOptions, Widget, WidgetCode, WidgetContext } from '../widget.ts';

/** The script of the frame: player/build.ts defines it. */
declare const widgetFrameScript: string;

/** As for the frame of hosted lessons, but without dialogs: links in new tabs, downloads, and forms for their events. */
const sandbox = 'allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-downloads';

/** How long an answer that is on its way counts after the widget was removed. */
const lastAnswerMs = 500;
/** Larger files are loaded by the frame itself, which works unless the server asks for cookies. */
const maxFileBytes = 20_000_000;
const maxFiles = 200;
const fileTimeoutMs = 30_000;

/** A custom widget that runs in its own frame: each block gets another one. */
export interface FramedWidget {
  /**
   * Adds a frame to an element and loads the widget in it. The result belongs to this frame: mount it only there.
   *
   * @throws if the module cannot be loaded
   */
  open(this: void, host: HTMLElement): Promise<Widget>;
}

/** A mounted widget in a frame. */
export interface MountedFrame extends MountedWidget {
  /** Mounts the widget again with other props, in the same frame. */
  update(options: Pick<MountOptions, 'props' | 'state' | 'tries'>): void;
  /** Rejects when the widget has thrown. */
  failure: Promise<never>;
  /** Resolves some time after `destroy`, when no answer can be on its way. */
  ended: Promise<void>;
}

/**
 * Returns a widget whose code runs in sandboxed frames, one for each block, with opaque origins. So it reaches neither
 * the page with its cookies nor other widgets, and answers only for its own block.
 */
export function framedWidget(type: string, code: WidgetCode, language: string): FramedWidget {
  const { policy } = code;
  const head =
    policy === undefined
      ? ''
      : element('meta', { 'http-equiv': 'Content-Security-Policy', content: policy }).outerHTML;
  return {
    open(host) {
      const iframe = element('iframe', {
        class: 'lectern-widget-frame',
        sandbox,
        allow: 'fullscreen; autoplay',
        referrerpolicy: 'no-referrer',
        title: message(language, 'lesson.widgetFrame'),
        hidden: true,
        srcdoc: `<!doctype html><meta charset="utf-8">${head}<body>${element('script', {}, widgetFrameScript).outerHTML}`,
      });
      const { port1: port, port2 } = new MessageChannel();
      const loaded = new Promise<Widget>((resolve, reject) => {
        port.onmessage = ({ data }: MessageEvent<unknown>) => {
          const reply = readFromFrame(data);
          if (reply?.type === 'loaded') {
            const { plainProps } = reply;
            resolve({ type, plainProps, mount: (_, options) => mountFrame(host, iframe, port, options) });
          } else if (reply?.type === 'failed') {
            iframe.remove();
            reject(new Error(reply.message));
          }
        };
      });
      // Only once: a document that the widget navigates to gets no port.
      iframe.addEventListener(
        'load',
        () => {
          const init: FrameInit = {
            ...code,
            language,
            direction: textDirection(language),
            fonts: fontRules(),
          };
          iframe.contentWindow?.postMessage(init, '*', [port2]);
        },
        { once: true },
      );
      host.append(iframe);
      return loaded;
    },
  };
}

function mountFrame(
  host: HTMLElement,
  iframe: HTMLIFrameElement,
  port: MessagePort,
  options: MountOptions,
): MountedFrame {
  const { context } = options;
  /** How often each block of the props may still be shown, by its JSON. */
  let ownBlocks = new Map<string, number>();
  let nested: HTMLElement[] = [];
  let draft: unknown;
  let isClosed = false;
  let mounts = 0;
  /** The bytes of files by reference, which are loaded only once. */
  const files: Files = new Map();
  let fail: (error: Error) => void;
  const failure = new Promise<never>((_, reject) => (fail = reject));
  let end: () => void;
  const ended = new Promise<void>((resolve) => (end = resolve));
  // Whoever mounts the widget may ignore it.
  failure.catch(() => undefined);
  const send = (sent: ToFrame) => port.postMessage(sent);

  function receive(report: FromFrame): void {
    switch (report.type) {
      case 'answer':
        draft = undefined;
        return context.answer(report.value, report.result);
      case 'variable':
        return context.setVariable(report.name, report.value);
      case 'failed':
        return fail(new Error(report.message));
      case 'height':
        iframe.style.blockSize = `${report.height}px`;
        return;
      case 'input':
        ({ draft } = report);
        iframe.dispatchEvent(new Event('input', { bubbles: true }));
        return;
      case 'active':
        iframe.dispatchEvent(new Event(report.isPress ? 'click' : 'pointermove', { bubbles: true }));
        return;
      case 'blocks':
        showNested(report.blocks);
        return;
      case 'loaded':
    }
  }

  /**
   * A widget shows only blocks in its props, each once: others could collect answers in another question's name, and
   * fill the page.
   */
  function showNested(value: unknown): void {
    const allowed = readBlocks(value).filter((block) => {
      const json = JSON.stringify(block);
      const left = ownBlocks.get(json) ?? 0;
      if (left > 0) ownBlocks.set(json, left - 1);
      return left > 0;
    });
    if (allowed.length === 0) return;
    const holder = element('div', { class: 'lectern-stack' });
    nested.push(holder);
    host.append(holder);
    context.renderBlocks(holder, allowed);
  }

  async function mount({
    props,
    state,
    tries,
  }: Pick<MountOptions, 'props' | 'state' | 'tries'>): Promise<void> {
    draft = undefined;
    for (const holder of nested) holder.remove();
    nested = [];
    ownBlocks = new Map();
    for (const json of blocksIn(props)) ownBlocks.set(json, (ownBlocks.get(json) ?? 0) + 1);
    mounts += 1;
    const number = mounts;
    const media = await filesOf(props, context, files);
    // Newer props may have overtaken these, whose files took longer.
    if (!isClosed && number === mounts) send({ type: 'mount', props, state, tries, media });
  }

  port.onmessage = ({ data }: MessageEvent<unknown>) => {
    const report = readFromFrame(data);
    if (report !== undefined && (!isClosed || report.type === 'answer')) receive(report);
  };
  iframe.hidden = false;
  const stopFollowing = followLook(host, iframe, send);
  void mount(options);
  return {
    failure,
    draft: () => draft,
    update: (changed) => void mount(changed),
    ended,
    destroy() {
      isClosed = true;
      stopFollowing();
      if (draft !== undefined) context.answer(draft);
      setTimeout(() => {
        port.close();
        end();
      }, lastAnswerMs);
    },
  };
}

/** Yields the JSON of all blocks in a value. */
function* blocksIn(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const block of readBlocks([value])) yield JSON.stringify(block);
  for (const inner of Object.values(value) as unknown[]) yield* blocksIn(inner);
}

const mediaIds = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const mediaPaths = /\.\/media\/[\w.-]+/g;

type Files = Map<string, Promise<Blob | undefined>>;

/**
 * Returns the files that props refer to, by reference: the bytes of files that only this page can read, since the frame
 * has another origin, without this one's cookies. Other files have their URLs.
 */
async function filesOf(
  props: unknown,
  context: WidgetContext,
  files: Files,
): Promise<Record<string, string | Blob>> {
  const text = JSON.stringify(props);
  const ids = (text.match(mediaIds) ?? []).map((id) => `media:${id.toLowerCase()}`);
  const references = [...new Set([...ids, ...(text.match(mediaPaths) ?? [])])].slice(0, maxFiles);
  const found = references.map(async (reference) => {
    const url = parseUrl(context.resolveMedia(reference), document.baseURI);
    if (url === null || url.protocol === 'media:') return [];
    const loading = files.get(reference) ?? bytesOf(url);
    files.set(reference, loading);
    const bytes = await loading;
    // The next mount tries again.
    if (bytes === undefined) files.delete(reference);
    return [[reference, bytes ?? url.href]];
  });
  return Object.fromEntries((await Promise.all(found)).flat()) as Record<string, string | Blob>;
}

/** Returns the bytes of a file of this page's origin; undefined for others, and for a file that is large or not loaded. */
async function bytesOf({ href, protocol, origin }: URL): Promise<Blob | undefined> {
  const isOwn = protocol === 'blob:' || (protocol.startsWith('http') && origin === self.origin);
  if (!isOwn) return undefined;
  try {
    const response = await fetch(href, { signal: abortAfter(fileTimeoutMs) });
    const isSmall = Number(response.headers.get('content-length') ?? 0) <= maxFileBytes;
    if (response.ok && isSmall) return await response.blob();
    await response.body?.cancel();
  } catch {
    // The frame may succeed.
  }
  return undefined;
}

/** Sends the look of the page around a frame now, and after each change. @returns a function that ends it */
function followLook(
  host: HTMLElement,
  iframe: HTMLIFrameElement,
  send: (message: ToFrame) => void,
): () => void {
  let sent = '';
  let frame = 0;
  function show(): void {
    const look: Look = { style: lookOf(host) };
    const text = JSON.stringify(look);
    if (text === sent) return;
    sent = text;
    // A frame of another scheme than its document would be opaque.
    iframe.style.colorScheme = look.style['color-scheme'] ?? '';
    send({ type: 'look', ...look });
  }
  const showSoon = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(show);
  };
  const abort = new AbortController();
  const observer = new MutationObserver(showSoon);
  observer.observe(document.documentElement, { attributes: true });
  addEventListener('resize', showSoon, { signal: abort.signal });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', showSoon, { signal: abort.signal });
  show();
  return () => {
    cancelAnimationFrame(frame);
    observer.disconnect();
    abort.abort();
  };
}

function lookOf(host: HTMLElement): Record<string, string> {
  const style = getComputedStyle(host);
  const tokens = tokenNames.map((name): [string, string] => [name, style.getPropertyValue(name)]);
  const height = style.getPropertyValue('--lectern-visible-height');
  const top = Number.parseFloat(style.getPropertyValue('--lectern-visible-top')) || 0;
  return {
    ...Object.fromEntries<string>(tokens.filter(([, value]) => value !== '')),
    '--lectern-visible-height': /^[\d.]+px$/.test(height) ? height : `${windowHeight() - top}px`,
    'color-scheme': style.colorScheme,
    'font-size': getComputedStyle(document.documentElement).fontSize,
  };
}

/** Returns the rules of the page's fonts. */
function fontRules(): string {
  const page: Partial<Document> & Pick<Document, 'styleSheets'> = document;
  const sheets = [...page.styleSheets, ...(page.adoptedStyleSheets ?? [])];
  const rules = sheets.flatMap((sheet) => {
    try {
      return [...sheet.cssRules].filter((rule) => rule instanceof CSSFontFaceRule);
    } catch {
      // A stylesheet of another origin.
      return [];
    }
  });
  return rules.map(({ cssText }) => cssText).join('\n');
}
