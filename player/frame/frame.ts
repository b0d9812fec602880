import type { FrameState } from '../embed-page/frame-messages.ts';
import type { FrameMessage } from '../embed-page/frame-messages.ts';
import type { FrameStart, OuterMessage } from '../embed-page/frame-link.ts';
import { element } from '../dom.ts';
import { addStylesheet } from '../lesson/archive.ts';
import { mountLesson } from '../lesson/mount-lesson.ts';
import type { LessonEvent, LessonHandle } from '../lesson/options.ts';
import { followHeight } from './follow-height.ts';
import type { Widget } from '../widget.ts';

/**
 * The inner frame: plays what the page around it hands over, and tells that page what happens. It has no origin of
 * its own, so neither player nor widgets reach a token, a cookie or the API.
 */
function listen(): void {
  addEventListener('message', function onInit({ source, data, ports }: MessageEvent<OuterMessage | null>) {
    const [port] = ports;
    if (source !== parent || data?.type !== 'init' || port === undefined) return;
    removeEventListener('message', onInit);
    play(data, port);
  });
  parent.postMessage({ source: 'lectern-frame', v: 1, type: 'hello' }, '*');
}

function play(start: FrameStart, port: MessagePort): void {
  const root = element('main');
  setVisibleHeight(start.visibleHeight);
  let { content } = start;
  let handle = mount(start);

  function mount({ state, startAt }: Pick<FrameStart, 'state' | 'startAt'>): LessonHandle {
    const { lesson, versionId, language } = start;
    return mountLesson({
      element: root,
      lesson,
      versionId,
      language,
      state,
      startAt,
      resolveMedia: (src) => mediaAddress(content, src),
      loadWidget: (type) => loadWidget(content, type, start.styledWidgets?.includes(type) ?? true),
      onReady: ({ stepId }) => tell({ type: 'ready', stepId }),
      onStepChange: (event) => tell({ type: 'step', ...stateOf(event), completed: false }),
      onComplete: (event) => tell({ type: 'step', ...stateOf(event), completed: true }),
      onAnswer: (event) => tell({ type: 'answer', ...stateOf(event), item: event.item }),
      onDraft: ({ at, ...draft }) => tell({ type: 'draft', ...draft, answeredAt: at }),
      onVariableChange: (event) => tell({ type: 'variable', ...stateOf(event), name: event.name }),
      onRestart: ({ stepId }) => tell({ type: 'restart', stepId }),
      onError: ({ code, message }) => tell({ type: 'error', code, message }),
    });
  }

  function tell(message: FrameMessage): void {
    port.postMessage(message);
  }

  port.onmessage = ({ data }: MessageEvent<Exclude<OuterMessage, { type: 'init' }>>) => {
    switch (data.type) {
      case 'content':
        content = data.base;
        return;
      case 'visibleHeight':
        setVisibleHeight(data.height);
        return;
      case 'goTo':
        handle.goTo(data.stepId);
        return;
      case 'unmount':
        // Else the page around the lesson would jump until it is mounted again.
        root.style.minBlockSize = `${root.offsetHeight}px`;
        handle.destroy();
        tell({ type: 'unmounted' });
        return;
      case 'remount':
        handle.destroy();
        handle = mount(data);
        root.style.minBlockSize = '';
    }
  };
  document.documentElement.lang = start.language;
  document.body.append(root);
  followHeight(root, (height) => tell({ type: 'resize', height }));
}

function setVisibleHeight(height: number): void {
  document.documentElement.style.setProperty('--lectern-visible-height', `${height}px`);
}

function stateOf({ stepId, progressData, variableState }: LessonEvent): {
  stepId: string;
  state: FrameState;
} {
  return { stepId, state: { progressData: { ...progressData }, variables: variableState } };
}

function mediaAddress(content: string, src: string): string {
  // What follows '#' is for the browser, such as the second at which a video starts.
  const [, id, fragment = ''] = /^media:([^#]+)(#.*)?$/i.exec(src) ?? [];
  return id === undefined ? src : `${content}media/${encodeURIComponent(id.toLowerCase())}${fragment}`;
}

async function loadWidget(content: string, type: string, isStyled: boolean): Promise<Widget> {
  const address = `${content}widgets/${encodeURIComponent(type)}`;
  const [module] = await Promise.all([
    import(`${address}.js`) as Promise<{ default: Widget }>,
    addStylesheet(isStyled ? `${address}.css` : undefined),
  ]);
  return module.default;
}

listen();
