import { parseUrl } from '../../shared/platform/parse-url.ts';
import { element } from '../dom.ts';
import { followHeight } from '../frame/follow-height.ts';
import { fetchWidget } from '../lesson/archive.ts';
import { mountLesson } from '../lesson/mount-lesson.ts';
import { readStepContent } from '../lesson/read-lesson.ts';
import { stepLayout } from '../lesson/step-layout.ts';
import { widgetLoader } from '../lesson/widget-loader.ts';
import { hostedMediaUrl } from '../media-url.ts';
import { setScheme, showTheme } from '../theme.ts';
import type { WidgetCode } from '../widget.ts';
import { editedList } from './edited-list.ts';
import type { EditedList, EditHost } from './edited-list.ts';
import { layoutOf, openAt, reveal } from './layout.ts';
import type { FromEditFrame, Look, ToEditFrame } from '../../shared/lessons/preview-messages.ts';

/**
 * Starts the frame of the editor's preview: it shows the step that the editor sends, and reports where its blocks are.
 * The frame's origin is opaque, so what the lesson contains reaches neither the editor nor the session of the author.
 */
function listen(): void {
  addEventListener('message', function onMessage({ source, data, ports }: MessageEvent<ToEditFrame | null>) {
    const [port] = ports;
    if (source !== parent || data?.type !== 'look' || port === undefined) return;
    removeEventListener('message', onMessage);
    new EditFrame(data, port);
  });
  parent.postMessage({ source: 'lectern-edit-frame', v: 1, type: 'hello' }, '*');
}

class EditFrame {
  readonly #root = element('main');
  readonly #port: MessagePort;
  /** The sizes of pictures that were loaded, by URL, so that nothing moves when their block is mounted again. */
  readonly #pictureSizes = new Map<string, { width: number; height: number }>();
  readonly #sizes = new ResizeObserver(() => this.#sendLayout());
  #look: Look;
  #revision = 0;
  #sent = '';
  /** The step that is edited; undefined while a lesson is played. */
  #step: { lesson: HTMLElement; body: HTMLElement; list: EditedList } | undefined;
  #followers: ReturnType<typeof stepLayout>['followers'] = new Map();
  #endPlay: (() => void) | undefined;

  constructor(look: Look, port: MessagePort) {
    this.#look = look;
    this.#port = port;
    document.body.append(this.#root);
    this.#showLook();
    this.#sizes.observe(this.#root);
    followHeight(this.#root, (height) => this.#send({ type: 'height', height }));
    addEventListener('load', ({ target }) => this.#noteSize(target), { capture: true });
    port.onmessage = ({ data }: MessageEvent<ToEditFrame>) => this.#receive(data);
  }

  #receive(message: ToEditFrame): void {
    switch (message.type) {
      case 'look':
        return this.#changeLook(message);
      case 'step':
        this.#revision = message.revision;
        return this.#showStep(message.content);
      case 'reveal':
        if (this.#step) reveal(this.#step.body, message.blockId);
        return this.#sendLayout();
      case 'open':
        if (this.#step) openAt(this.#step.body, message);
        return this.#sendLayout();
      case 'play':
        return this.#play(message.lesson, message.stepId);
    }
  }

  #changeLook(look: Look): void {
    const before = this.#look;
    this.#look = look;
    this.#showLook();
    const isOther = (['language', 'ownTypes', 'overrides'] as const).some(
      (name) => JSON.stringify(before[name]) !== JSON.stringify(look[name]),
    );
    // The next step message shows it again.
    if (isOther) this.#clearStep();
    this.#sendLayout();
  }

  #showLook(): void {
    const { language, direction, scheme, theme } = this.#look;
    document.documentElement.lang = language;
    document.documentElement.dir = direction;
    setScheme(scheme);
    showTheme(theme);
    if (this.#step) this.#step.lesson.dir = direction;
  }

  #showStep(content: unknown): void {
    this.#endPlay?.();
    this.#endPlay = undefined;
    const { blocks, followers } = stepLayout(readStepContent(content));
    this.#followers = followers;
    this.#step ??= this.#newStep();
    this.#step.list.show(blocks.map((block) => ({ ...block, type: block.type ?? '' })));
    this.#sendLayout();
  }

  #newStep() {
    const { language, direction } = this.#look;
    const body = element('div', { class: 'lectern-step-body lectern-stack' });
    const lesson = element(
      'div',
      // Authors operate the editor only: its outline has the same blocks.
      { class: 'lectern-lesson lectern-is-edited', lang: language, dir: direction, inert: true },
      element('div', { class: 'lectern-step' }, body),
    );
    this.#root.append(lesson);
    // The frame becomes as high as the step. A scroll bar meanwhile would change the layout.
    document.documentElement.style.overflow = 'hidden';
    return { lesson, body, list: editedList(body, this.#host()) };
  }

  #clearStep(): void {
    this.#step?.list.destroy();
    this.#step?.lesson.remove();
    this.#step = undefined;
  }

  #host(): EditHost {
    const { language, overrides, ownTypes } = this.#look;
    const ignore = () => undefined;
    return {
      ...{ language, overrides, ownTypes, sizes: this.#sizes },
      widgetTimeoutMs: 15_000,
      widgetFor: widgetLoader([this.#loadWidget], language, ownTypes),
      resolveMedia: this.#resolveMedia,
      openVideo: undefined,
      creditsFor: undefined,
      sizeOf: (src) =>
        this.#pictureSizes.get(parseUrl(this.#resolveMedia(src), document.baseURI)?.href ?? ''),
      variables: () => ({}),
      followers: (id) => this.#followers.get(String(id)) ?? [],
      hasDraft: () => false,
      saved: () => ({ state: undefined, tries: 0 }),
      ...{ answer: ignore, draft: ignore, setVariable: ignore, report: ignore },
    };
  }

  readonly #resolveMedia = (src: string): string => hostedMediaUrl(this.#look.content, src);

  readonly #loadWidget = (type: string): Promise<WidgetCode> => {
    const url = `${this.#look.content}widgets/${encodeURIComponent(type)}`;
    return fetchWidget(`${url}.js`, `${url}.css`);
  };

  #play(lesson: unknown, startAt: string): void {
    this.#endPlay?.();
    this.#clearStep();
    document.documentElement.style.overflow = '';
    const { language, ownTypes } = this.#look;
    const handle = mountLesson({
      ...{ element: this.#root, lesson, startAt, language, ownTypes },
      resolveMedia: this.#resolveMedia,
      loadWidget: this.#loadWidget,
    });
    this.#endPlay = handle.destroy;
  }

  #noteSize(target: EventTarget | null): void {
    if (!(target instanceof HTMLImageElement) || target.naturalWidth === 0) return;
    this.#pictureSizes.set(target.currentSrc, { width: target.naturalWidth, height: target.naturalHeight });
  }

  #sendLayout(): void {
    if (this.#step === undefined) return;
    const layout = layoutOf(this.#step.body, this.#revision);
    const text = JSON.stringify([layout.revision, layout.width, [...layout.blocks], layout.emptyLists]);
    if (text === this.#sent) return;
    this.#sent = text;
    this.#send(layout);
  }

  #send(message: FromEditFrame): void {
    this.#port.postMessage(message);
  }
}

listen();
