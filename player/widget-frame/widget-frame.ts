import { element } from '../dom.ts';
import { followHeight } from '../frame/follow-height.ts';
import { addStyles } from '../older-browsers.ts';
import { jsonCopy } from '../props.ts';
import type { MountedWidget, Widget } from '../widget.ts';
import { rememberFocus, reportEditedField } from '../lesson/focus.ts';
import type { FrameInit, FromFrame, ToFrame } from './messages.ts';

/*
 * The script of a custom widget's own frame. Everything here may be changed by the widget, which affects only the widget:
 * the player knows each frame by its port, and checks what arrives.
 */

/** The content of widget-frame.css: player/build.ts defines it. */
declare const widgetFrameStyle: string;

/** The time after a change until the height is measured, where the browser does not report it sooner. */
const quietTimeMs = 100;

addEventListener('message', function onMessage({ source, data, ports }: MessageEvent<FrameInit>) {
  const [port] = ports;
  if (source !== parent || port === undefined) return;
  removeEventListener('message', onMessage);
  void start(data, port);
});

async function start({ js, css, fonts, language, direction }: FrameInit, port: MessagePort): Promise<void> {
  const send = (message: FromFrame) => port.postMessage(message);
  const { documentElement: root } = document;
  root.lang = language;
  root.dir = direction;
  for (const text of [widgetFrameStyle, fonts, css ?? '']) addStyles(text);
  const slot = element('div', { class: 'lectern-slot' });
  const body = element('div', { class: 'lectern-step-body' }, slot);
  document.body.append(body);
  const widget = await importWidget(js).catch((error: unknown) => {
    send({ type: 'failed', message: textOf(error) });
  });
  if (widget === undefined) return;
  port.onmessage = ({ data }: MessageEvent<ToFrame>) => {
    if (data.type === 'look') {
      for (const [name, value] of Object.entries(data.style)) root.style.setProperty(name, value);
    } else mount(data);
  };
  reportActivity(send);
  const measure = followHeight(body, (height) => send({ type: 'height', height }));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const measureSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(measure, quietTimeMs);
  };
  new MutationObserver(measureSoon).observe(slot, { childList: true, subtree: true, attributes: true });
  addEventListener('load', measureSoon, { capture: true });

  let mounted: Partial<MountedWidget> | undefined;
  /** The object URLs of files by reference: each mount gets the same ones. */
  const objectUrls = new Map<string, string>();
  slot.addEventListener('input', () => send({ type: 'input', draft: json(() => mounted?.draft?.()) }));
  // Browsers fire no `change` event when the page around the frame is closed.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) reportEditedField(slot);
  });

  function urlOf(name: string, file: string | Blob): string {
    if (typeof file === 'string') return file;
    const url = objectUrls.get(name) ?? URL.createObjectURL(file);
    objectUrls.set(name, url);
    return url;
  }

  function mount({ props, state, tries, media }: Extract<ToFrame, { type: 'mount' }>): void {
    const fail = (error: unknown) => send({ type: 'failed', message: textOf(error) });
    const urls = new Map(Object.entries(media).map(([name, file]) => [name, urlOf(name, file)]));
    const restoreFocus = rememberFocus(slot);
    try {
      mounted?.destroy?.();
      slot.replaceChildren();
      const context: Parameters<Widget['mount']>[1]['context'] = {
        language,
        resolveMedia(src) {
          const [, name = '', fragment = ''] = /^([^#]*)(#.*)?$/s.exec(String(src)) ?? [];
          const url = urls.get(name) ?? urls.get(name.toLowerCase());
          return url === undefined ? src : url + fragment;
        },
        answer: (value, result) =>
          send({ type: 'answer', value: json(() => value), result: json(() => result) }),
        setVariable: (name, value) => send({ type: 'variable', name, value: json(() => value) }),
        renderBlocks: (_element, blocks) => send({ type: 'blocks', blocks: json(() => blocks) }),
      };
      const shown: unknown = widget?.mount(slot, { props, state, tries, context });
      mounted = shown as typeof mounted;
      if (shown instanceof Promise) shown.catch(fail);
      restoreFocus();
    } catch (error) {
      fail(error);
    }
  }

  send({ type: 'loaded', plainProps: json(() => widget.plainProps) ?? [] });
}

async function importWidget(js: string): Promise<Widget> {
  const url = URL.createObjectURL(new Blob([js], { type: 'text/javascript' }));
  try {
    const { default: widget } = (await import(url)) as { default?: unknown };
    if (typeof (widget as Partial<Widget> | undefined)?.mount === 'function') return widget as Widget;
    throw new Error('The module exports no widget: it has no mount function');
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Reports presses, and other signs of activity once a second. */
function reportActivity(send: (message: FromFrame) => void): void {
  const options = { capture: true, passive: true };
  let sentAt = 0;
  const act = (isPress: boolean) => {
    const now = Date.now();
    if (!isPress && now - sentAt < 1000) return;
    sentAt = now;
    send({ type: 'active', isPress });
  };
  for (const press of ['click', 'keydown']) addEventListener(press, () => act(true), options);
  for (const sign of ['pointerdown', 'pointermove', 'wheel', 'touchmove', 'timeupdate']) {
    addEventListener(sign, () => act(false), options);
  }
}

/** Returns a copy of a JSON value, since a port rejects the proxies of frameworks; undefined for anything else. */
function json<Value>(read: () => Value): Value | undefined {
  try {
    return jsonCopy(read());
  } catch {
    return undefined;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
