import type { FrameMessage, FrameState } from '../embed-page/frame-messages.ts';
import type { FrameStart, OuterMessage, VisibleLesson } from '../embed-page/frame-link.ts';
import { element, icon, onPrintKeys } from '../dom.ts';
import { addMessages, message } from '../../shared/i18n/message.ts';
import type { ChunkStep } from '../../shared/lessons/lesson-skeleton.ts';
import { fetchWidget } from '../lesson/archive.ts';
import { rememberPlace } from '../lesson/focus.ts';
import { withOthers } from '../lesson/lesson-progress.ts';
import { mountLesson } from '../lesson/mount-lesson.ts';
import type { LessonEvent, LessonOptions } from '../lesson/options.ts';
import { readSkeleton } from '../lesson/read-skeleton.ts';
import { chunkedSteps } from '../lesson/step-source.ts';
import { hostedMediaUrl } from '../media-url.ts';
import { showTheme, setScheme } from '../theme.ts';
import { measureActiveTime } from './active-time.ts';
import { followHeight } from './follow-height.ts';
import { pressGuard } from './press-guard.ts';

/**
 * Starts the inner frame: it plays the lesson that the outer page sends, and reports what happens. The frame's origin
 * is opaque, so the player reaches no token, cookie or API. Custom widgets run in frames of their own inside this one.
 */
function listen(): void {
  const sayHello = (isAnswer: boolean) =>
    parent.postMessage({ source: 'lectern-frame', v: 1, type: 'hello', isAnswer }, '*');
  addEventListener('message', function onMessage({ source, data, ports }: MessageEvent<OuterMessage | null>) {
    if (source !== parent) return;
    if (data?.type === 'hello') sayHello(true);
    const [port] = ports;
    if (data?.type !== 'init' || port === undefined) return;
    removeEventListener('message', onMessage);
    play(data, port);
  });
  sayHello(false);
}

function play(start: FrameStart, port: MessagePort): void {
  addMessages(start.messages.language, start.messages.texts);
  const root = element('main');
  document.documentElement.lang = start.language;
  // Before the lesson is mounted, because the player measures its width: without one, it would lay out everything twice.
  document.body.append(root);
  setVisible(start.visible);
  showTheme(start.theme?.css);
  setScheme(start.scheme);
  const { chunk, steps: firstSteps } = start.first;
  // It keeps its space, so that nothing moves.
  const saved = element(
    'p',
    { class: 'lectern-saved' },
    icon('right'),
    message(start.language, 'lesson.saved'),
  );
  const showSaved = (isSaved: boolean) => (saved.style.visibility = isSaved ? '' : 'hidden');
  showSaved(false);
  const steps = chunkedSteps(start.lesson, (needed) => send({ type: 'loadChunk', chunk: needed }));
  steps.receive(chunk, JSON.parse(firstSteps) as ChunkStep[]);
  const time = measureActiveTime(
    () => root.querySelector('.lectern-is-covered') !== null,
    (stepId, activeMs) => send({ type: 'time', stepId, activeMs }),
  );
  const enter = ({ stepId, progressData }: LessonEvent) =>
    time.enter(progressData.atEnd ? undefined : stepId);
  let { content } = start;
  let handle = mount(start, true);
  const afterPress = pressGuard();
  let goToTimer: ReturnType<typeof setTimeout> | undefined;
  let restoreFocus = (): void => undefined;

  function mount(
    { state, startAt, startAtBlock }: Pick<FrameStart, 'state' | 'startAt' | 'startAtBlock'>,
    cover: boolean,
  ): ReturnType<typeof mountLesson> {
    const { lesson, versionId, language } = start;
    const options: LessonOptions = {
      element: root,
      versionId,
      language,
      sendsGrade: start.course?.sendsGrade === true,
      onLeave: start.course?.hasReturn ? () => send({ type: 'leave' }) : undefined,
      state,
      startAt,
      startAtBlock,
      cover,
      logo: start.theme?.logo ?? undefined,
      status: start.isRecorded ? saved : undefined,
      canPresent: start.isPreview,
      canPrintAnswers: start.isPreview,
      openVideo: start.externalVideos ? (page) => send({ type: 'video', page }) : undefined,
      resolveMedia: (src) => hostedMediaUrl(content, src),
      loadWidget(type) {
        const url = `${content}widgets/${encodeURIComponent(type)}`;
        const isStyled = start.styledWidgets?.includes(type) ?? true;
        return fetchWidget(`${url}.js`, isStyled ? `${url}.css` : undefined);
      },
      onReady(event) {
        enter(event);
        send({ type: 'ready', stepId: event.stepId, atEnd: event.progressData.atEnd });
      },
      onStepChange(event) {
        enter(event);
        send({ type: 'step', ...stateOf(event), completed: false });
      },
      onHeading(heading) {
        document.title = heading;
        send({ type: 'heading', heading });
      },
      onComplete: (event) => send({ type: 'step', ...stateOf(event), completed: true }),
      onAnswer: (event) => send({ type: 'answer', ...stateOf(event), item: event.item }),
      onDraft: ({ at, ...draft }) => send({ type: 'draft', ...draft, answeredAt: at }),
      onVariableChange: (event) => send({ type: 'variable', ...stateOf(event), name: event.name }),
      onRestart: ({ stepId }) => send({ type: 'restart', stepId }),
      onError: ({ code, message }) => send({ type: 'error', code, message }),
    };
    return mountLesson(options, () => ({ ...readSkeleton(lesson, steps), pictureSizes: start.pictureSizes }));
  }

  function send(message: FrameMessage): void {
    port.postMessage(message);
  }

  port.onmessage = ({ data }: MessageEvent<Exclude<OuterMessage, { type: 'hello' | 'init' }>>) => {
    switch (data.type) {
      case 'content':
        content = data.base;
        return;
      case 'scheme':
        setScheme(data.scheme);
        return;
      case 'theme':
        showTheme(data.css);
        return;
      case 'visible':
        afterPress(() => setVisible(data));
        return;
      case 'saved':
        showSaved(data.isSaved);
        return;
      case 'chunk':
        steps.receive(data.chunk, data.steps);
        return;
      case 'chunkFailed':
        steps.fail(data.chunk, data.isGone);
        return;
      case 'print':
        print();
        return;
      case 'goTo':
        // Only the last of many requests counts, because showing thousands of steps would freeze the lesson.
        clearTimeout(goToTimer);
        goToTimer = setTimeout(() => handle.goTo(data.stepId));
        return;
      case 'update':
        handle.update((lesson, progress) => withOthers(lesson, progress, data.state, data.stepId));
        return;
      case 'unmount':
        restoreFocus = rememberPlace(root);
        // Keeps the height, so that the page does not jump until the lesson is mounted again.
        root.style.minBlockSize = `${root.offsetHeight}px`;
        handle.destroy();
        send({ type: 'unmounted' });
        return;
      case 'remount':
        handle.destroy();
        handle = mount(data, false);
        root.style.minBlockSize = '';
        restoreFocus();
    }
  };
  // A frame is cut between two pages of paper where it prints with the page around it.
  onPrintKeys(() => print());
  const sendHeight = (height: number) => send({ type: 'resize', height });
  if (start.visible) followHeight(root, sendHeight);
  else new ResizeObserver(() => sendHeight(root.offsetHeight)).observe(root);
}

/** In a lower window, a header and a bar would leave too little space to read. As in lesson.css. */
const minHeight = 320;

function setVisible(visible: VisibleLesson | null): void {
  const { style } = document.documentElement;
  if (visible === null)
    return style.setProperty('--lectern-min-height', CSS.supports('height: 100svh') ? '100svh' : '100vh');
  document.documentElement.classList.toggle('lectern-is-low', visible.height < minHeight);
  for (const name of ['top', 'below', 'height'] as const) {
    style.setProperty(`--lectern-visible-${name}`, `${visible[name]}px`);
  }
}

function stateOf({ stepId, progressData, variableState }: LessonEvent): {
  stepId: string;
  state: FrameState;
} {
  return { stepId, state: { progressData: { ...progressData }, variables: variableState } };
}

listen();
