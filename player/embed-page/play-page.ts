import type { ChunkStep } from '../../shared/lessons/lesson-skeleton.ts';
import type { Scheme } from '../../shared/theme/tokens.ts';
import { onPrintKeys } from '../dom.ts';
import { addTheme, currentScheme, setScheme } from '../theme.ts';
import type { LessonBoot } from './boot.ts';
import { chunkLoader } from './chunk-loader.ts';
import { frameLink, progressForFrame } from './frame-link.ts';
import { openHost, sendHeightToPlatform } from './host-link.ts';
import { launchLines, leaveFor } from './launch-lines.ts';
import { learnerNotices } from './learner-notices.ts';
import { learnerProgress } from './learner-progress.ts';
import { linkedStep, pageTitle, stepFragments, stepHistory } from '../step-history.ts';
import { stepPositions } from './step-positions.ts';
import { hasForeign } from './facts.ts';
import { factStore, openStorage } from './fact-store.ts';
import { renewContent, tokenRenewal } from './renewal.ts';
import { Saver } from './saver.ts';
import { sessionClient } from './session-client.ts';
import type { StepPosition } from './session-record.ts';
import { claimsOf, keepToken, tokenStore } from './token-keeper.ts';
import { videoDialog } from './video-dialog.ts';
import { visiblePart } from './visible-part.ts';

/** The time in which the frame must show the lesson. */
const frameTimeoutMs = 20_000;
/** The time in which answers to an older version must be saved. */
const olderVersionTimeoutMs = 10_000;

/** Plays a lesson: connects the frame with the player, the saver and the host page. */
export function playPage(boot: LessonBoot, firstToken: string): void {
  addTheme(boot.theme?.css);
  const { versionId, language, launch } = boot;
  const positions = stepPositions(boot.lesson, () => JSON.parse(boot.steps) as ChunkStep[]);
  let { chunksUrl } = boot.content;
  const loadChunk = chunkLoader(boot.lesson, () => chunksUrl);
  const client = sessionClient(boot, () => tokens.token());
  const tokens = keepToken(
    { token: firstToken, expiresAt: Date.parse(boot.token.expiresAt) },
    tokenStore(openStorage('sessionStorage'), boot.lessonId),
    client.now,
    (expiresAt) => host.send({ type: 'token.expiring', expiresAt: new Date(expiresAt).toISOString() }),
  );
  const saver = new Saver({
    record: boot.session,
    versionId,
    pinned: () => claimsOf(tokens.token()).versionId as string | undefined,
    client,
    store: factStore(openStorage('localStorage'), boot.learner),
    isRecorded: boot.untracked === null,
    onChange: () => update(),
    onSaved(record, facts) {
      hasSaved = true;
      progress.onSaved(record, facts);
      if (facts.some(({ answer }) => answer)) notices.answerSaved();
      if (hasForeign(saver.shown, saver.record)) isOutdated = true;
      if (record.attempt > saver.shown.attempt) isElsewhere = true;
    },
    onLost() {
      host.send({ type: 'error', code: 'not_saved', message: 'The server has rejected an answer' });
      notices.lost();
    },
  });
  const notices = learnerNotices(
    { texts: boot.messages, returnUrl: launch?.returnUrl ?? null },
    () => ({ saving: saver.state, isStored: saver.isStored, isOnline: navigator.onLine, isStuck }),
    { stuck: { label: 'reload', act: reload } },
  );
  const lines = launchLines(boot);
  const video = videoDialog(
    boot.messages,
    () => visible?.of(document.body) ?? null,
    () => frame.iframe.focus(),
  );
  const host = openHost(boot.allowedOrigins, (request) => {
    if (request.type === 'setToken') takeToken(request.token);
    else if (request.type === 'viewport') visible?.set(request);
    else if (request.type === 'colorScheme') showScheme(request.scheme);
    else if (request.type === 'goTo' && !frame.post(request))
      linked = positions.positionOf(request.stepId) ?? linked;
  });
  const takeToken = tokenRenewal(boot, client, {
    renewed(token) {
      tokens.replace(token);
      saver.renewed();
    },
    rejected: (code) => host.send({ type: 'error', code, message: 'The token was rejected' }),
  });
  const progress = learnerProgress(boot, positions, saver, host, positions.positionInRecord(boot.session));
  let content = new URL(boot.content.base, location.href).href;
  /** The step of a deep link, until the lesson is shown. */
  let linked = positions.positionOf(linkedStep(stepFragments));
  /** Null in a separate window: the frame fills it, and scrolls. */
  const visible = parent === window ? null : visiblePart(showVisible);
  let isStuck = false;
  let isRejected = false;
  /** Whether another tab or device has changed something that the frame shows. */
  let isOutdated = false;
  /** Whether the server has a write of this page. */
  let hasSaved = false;
  /** Whether the learner has restarted there. */
  let isElsewhere = false;

  const steps = stepHistory(stepFragments, (stepId) => frame.post({ type: 'goTo', stepId }));

  const frame = frameLink(
    document.querySelector('.lectern-embed-frame') as HTMLIFrameElement,
    () => ({
      lesson: boot.lesson,
      first: { chunk: boot.chunk, steps: boot.steps },
      versionId,
      language,
      messages: boot.lessonMessages,
      content,
      styledWidgets: boot.styledWidgets ?? null,
      visible: visible?.of(frame.iframe) ?? null,
      theme: boot.theme ?? null,
      scheme: currentScheme(),
      isRecorded: boot.untracked === null,
      course: launch && { hasReturn: launch.returnUrl !== null, sendsGrade: launch.sendsGrade },
      state: progressForFrame(saver.show()),
      startAt: linked?.stepId,
      isPreview: boot.untracked === 'preview' || boot.untracked === 'authorPreview',
      externalVideos: boot.externalVideos,
      pictureSizes: boot.pictureSizes ?? {},
    }),
    (message) => {
      if (message.type === 'resize') setHeight(message.height);
      else if (message.type === 'heading') document.title = pageTitle(message.heading, boot.title);
      else if (message.type === 'error') host.send(message);
      else if (message.type === 'loadChunk') void sendChunk(message.chunk);
      else if (message.type === 'leave') leave();
      else if (message.type === 'video') {
        if (boot.externalVideos && isPressed()) video.open(message.page);
      } else {
        if (message.type === 'ready') onReady(message);
        else if (message.type === 'step')
          steps.show({ stepId: message.stepId, atEnd: message.state.progressData.atEnd === true });
        // The player focuses the step, but not every browser scrolls the page around a frame for that.
        if (message.type === 'step') document.body.scrollTop = 0;
        progress.onMessage(message);
      }
    },
  );

  /** Checks that the learner has pressed something: a widget can send the same messages as the player. */
  function isPressed(): boolean {
    // Safari knows the press since 16.4, Firefox since 120.
    return (navigator as Partial<Navigator>).userActivation?.isActive ?? true;
  }

  function leave(): void {
    if (launch?.returnUrl && isPressed() && saver.record.status === 'completed') {
      leaveFor(launch.returnUrl);
    }
  }

  function showScheme(scheme: Scheme | undefined): void {
    setScheme(scheme);
    frame.post({ type: 'scheme', scheme });
  }

  function setHeight(height: number): void {
    if (visible) frame.iframe.style.blockSize = `${height}px`;
    // On paper, the whole step counts.
    else frame.iframe.style.setProperty('--lectern-content-height', `${height}px`);
  }

  function showVisible(): void {
    if (!visible) return;
    const { top, below, height } = visible.of(frame.iframe);
    frame.post({ type: 'visible', top, below, height });
    video.place();
    notices.root.style.insetBlockStart = `${visible.of(document.body).top}px`;
  }

  async function sendChunk(chunk: number): Promise<void> {
    const steps = await loadChunk(chunk);
    if (typeof steps === 'string') {
      frame.post({ type: 'chunkFailed', chunk, isGone: steps === 'gone' });
    } else {
      frame.post({ type: 'chunk', chunk, steps });
      positions.addSteps(steps);
    }
  }

  function onReady({ stepId, atEnd }: { stepId: string; atEnd: boolean }): void {
    linked = undefined;
    steps.replace({ stepId, atEnd });
    isStuck = false;
    clearTimeout(frameTimer);
    update();
  }

  function update(): void {
    const { hold } = saver.state;
    // The host's earlier attempt may have failed offline.
    if (hold === 'expired' && !isRejected) tokens.rejected();
    isRejected = hold === 'expired';
    if (hold === 'erased') reload();
    notices.update();
    frame.post({ type: 'saved', isSaved: isSaved() });
    // What the learner is typing comes first.
    if (isOutdated && !saver.hasDrafts) void remount();
  }

  function isSaved(): boolean {
    const { hold, unsent } = saver.state;
    return hold === null && unsent === 0 && (hasSaved || saver.record.status !== 'not_started');
  }

  /** Mounts the lesson again with the answers of other tabs and devices, at the step that is shown. */
  async function remount(): Promise<void> {
    isOutdated = false;
    const mount = () => {
      const record = saver.show();
      const recorded = positions.positionInRecord(record);
      const position: StepPosition = isElsewhere ? recorded : progress.position();
      isElsewhere = false;
      progress.moveTo(position);
      const startAt = linked ?? (position === recorded ? undefined : position);
      frame.post({ type: 'remount', state: progressForFrame(record), startAt: startAt?.stepId });
    };
    // A busy frame reports its unsubmitted answers late, and then mounts the lesson a second time.
    await frame.unmount(mount);
    mount();
  }

  /** Reloads the page, so that the server decides again, also on the version. */
  function reload(): void {
    const query = new URLSearchParams({ token: tokens.token() });
    const scheme = currentScheme();
    if (scheme) query.set('scheme', scheme);
    location.replace(`${location.pathname}?${query.toString()}`);
  }

  let frameTimer: ReturnType<typeof setTimeout> | undefined;

  function show(): void {
    progress.moveTo(positions.positionInRecord(saver.record));
    frame.iframe.before(...lines.above);
    frame.open();
    frameTimer = setTimeout(() => {
      isStuck = true;
      update();
    }, frameTimeoutMs);
  }

  /** Waits until answers to an older version are saved. The server then adapts them to this version. */
  async function saveOlderVersion(): Promise<boolean> {
    const deadline = Date.now() + olderVersionTimeoutMs;
    while (saver.hasOlderVersion && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return !saver.hasOlderVersion;
  }

  document.documentElement.className = 'lectern-embed-root';
  document.body.className = visible ? 'lectern-embed' : 'lectern-embed lectern-is-window';
  // The frame stays where it is: moved, it would load again.
  document.getElementById('lectern-page')?.replaceWith(notices.root);
  const page = document.getElementById('lectern-lesson') as HTMLElement;
  for (const id of ['lectern-boot', 'lectern-steps']) document.getElementById(id)?.remove();
  new ResizeObserver(([entry]) => {
    const isSized = frame.iframe.style.blockSize !== '';
    if (!entry || !isSized) return;
    const height = Math.ceil(entry.contentRect.height);
    host.send({ type: 'resize', height });
    if (launch !== null) sendHeightToPlatform(height);
    // A host page that does not follow the height now shows another part of the lesson.
    showVisible();
  }).observe(page);
  renewContent(boot.content, client, (renewed) => {
    ({ chunksUrl } = renewed);
    content = new URL(renewed.base, location.href).href;
    frame.post({ type: 'content', base: content });
  });
  addEventListener('online', () => {
    saver.skipWait();
    update();
  });
  addEventListener('offline', update);
  onPrintKeys(() => frame.post({ type: 'print' }));
  const flush = () => saver.flush(progress.position());
  addEventListener('pagehide', flush);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') flush();
    else saver.skipWait();
  });
  addEventListener('beforeunload', (event) => {
    if (!saver.isStored && saver.state.unsent > 0) event.preventDefault();
  });

  if (saver.hasOlderVersion) void saveOlderVersion().then((isSaved) => (isSaved ? reload() : show()));
  else show();
}
