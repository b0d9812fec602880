import type { ChunkStep } from '../../shared/lessons/lesson-skeleton.ts';
import { onPrintKeys } from '../dom.ts';
import { showTheme, currentScheme, setScheme } from '../theme.ts';
import type { LessonBoot } from './boot.ts';
import { chunkLoader } from './chunk-loader.ts';
import { frameLink, progressForFrame } from './frame-link.ts';
import type { FrameLink, FrameStart } from './frame-link.ts';
import type { FrameMessage } from './frame-messages.ts';
import { openHost, sendHeightToPlatform } from './host-link.ts';
import type { HostLink } from './host-link.ts';
import type { HostRequest } from './host-messages.ts';
import { isPressed, launchLines, leaveFor } from './launch-lines.ts';
import { learnerNotices } from './learner-notices.ts';
import type { LearnerNotices } from './learner-notices.ts';
import { LearnerProgress } from './learner-progress.ts';
import { linkedBlock, linkedStep, pageTitle, stepFragments, stepHistory } from '../step-history.ts';
import type { StepHistory } from '../step-history.ts';
import { stepPositions } from './step-positions.ts';
import type { StepPositions } from './step-positions.ts';
import { hasForeign } from './facts.ts';
import type { Fact } from './facts.ts';
import { factStore, openStorage } from './fact-store.ts';
import { renewContent, tokenRenewal } from './renewal.ts';
import { Saver } from './saver.ts';
import { sessionClient } from './session-client.ts';
import type { SessionClient } from './session-client.ts';
import type { SessionRecord, StepPosition } from './session-record.ts';
import { claimsOf, keepToken, tokenStore } from './token-keeper.ts';
import type { TokenKeeper } from './token-keeper.ts';
import { videoDialog } from './video-dialog.ts';
import { pageLayout } from './visible-part.ts';
import type { PageLayout } from './visible-part.ts';

/** The time in which the frame must show the lesson. */
const frameTimeoutMs = 20_000;
/** The time in which answers to an older version must be saved. */
const olderVersionTimeoutMs = 10_000;
/** The frame sends what a press causes in several messages: a last answer, and another step. */
const elsewhereDelayMs = 100;

/** Plays a lesson: connects the frame with the player, the saver and the host page. */
export class LessonPage {
  readonly #boot: LessonBoot;
  readonly #positions: StepPositions;
  readonly #loadChunk: ReturnType<typeof chunkLoader>;
  readonly #client: SessionClient;
  readonly #tokens: TokenKeeper;
  readonly #renewToken: (token: string) => void;
  readonly #saver: Saver;
  readonly #progress: LearnerProgress;
  readonly #notices: LearnerNotices;
  readonly #host: HostLink;
  readonly #frame: FrameLink;
  readonly #layout: PageLayout;
  readonly #video: ReturnType<typeof videoDialog>;
  readonly #steps: StepHistory;
  /** The URLs of media, widgets and chunks. */
  #content: LessonBoot['content'];
  /** The step of a deep link, until the lesson is shown. */
  #linked: StepPosition | undefined;
  #frameTimer: ReturnType<typeof setTimeout> | undefined;
  /** Whether the frame has not shown the lesson in time. */
  #isStuck = false;
  /** Whether the page has asked for another token, because the server rejected this one. */
  #isRejected = false;
  /** Whether the server has a write of this page. */
  #hasSaved = false;
  /** What another tab or device has changed that the frame does not show yet. */
  #elsewhere: 'nothing' | 'answers' | 'attempt' = 'nothing';
  #elsewhereTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(boot: LessonBoot, firstToken: string) {
    const { versionId, launch, messages } = boot;
    this.#boot = boot;
    this.#content = boot.content;
    this.#positions = stepPositions(boot.lesson, () => JSON.parse(boot.steps) as ChunkStep[]);
    this.#linked = this.#positions.positionOf(linkedStep(stepFragments));
    this.#loadChunk = chunkLoader(boot.lesson, () => this.#content.chunksUrl);
    this.#client = sessionClient(boot, () => this.#tokens.token());
    this.#tokens = keepToken(
      { token: firstToken, expiresAt: Date.parse(boot.token.expiresAt) },
      tokenStore(openStorage('sessionStorage'), boot.lessonId),
      this.#client.now,
      (expiresAt) =>
        this.#host.send({ type: 'token.expiring', expiresAt: new Date(expiresAt).toISOString() }),
    );
    this.#renewToken = tokenRenewal(boot, this.#client, {
      renewed: (token) => {
        this.#tokens.replace(token);
        this.#saver.renewed();
      },
      rejected: (code) => this.#host.send({ type: 'error', code, message: 'The token was rejected' }),
    });
    this.#saver = new Saver({
      record: boot.session,
      versionId,
      pinned: () => claimsOf(this.#tokens.token()).versionId as string | undefined,
      client: this.#client,
      store: factStore(openStorage('localStorage'), boot.learner),
      isRecorded: boot.untracked === null,
      onChange: () => this.#update(),
      onSaved: (record, facts) => this.#onSaved(record, facts),
      onLost: () => this.#onLost(),
    });
    this.#notices = learnerNotices(
      { texts: messages, returnUrl: launch?.returnUrl ?? null },
      () => ({
        ...{ saving: this.#saver.state, isStored: this.#saver.isStored },
        ...{ isOnline: navigator.onLine, isStuck: this.#isStuck },
      }),
      { stuck: { label: 'reload', act: () => this.#reload() } },
    );
    this.#frame = frameLink(
      document.querySelector('.lectern-embed-frame') as HTMLIFrameElement,
      () => this.#frameStart(),
      (message) => this.#onFrameMessage(message),
    );
    this.#layout = pageLayout(this.#frame.iframe, this.#notices.root, {
      resized: (height) => {
        this.#host.send({ type: 'resize', height });
        if (launch !== null) sendHeightToPlatform(height);
      },
      moved: () => this.#showVisible(),
    });
    this.#video = videoDialog(
      messages,
      () => this.#layout.visible(document.body),
      () => this.#frame.iframe.focus(),
    );
    this.#host = openHost(boot.allowedOrigins, (request) => this.#onRequest(request));
    const start = this.#positions.positionInRecord(boot.session);
    this.#progress = new LearnerProgress(boot, this.#positions, this.#saver, this.#host, start);
    this.#steps = stepHistory(stepFragments, (stepId) => this.#frame.post({ type: 'goTo', stepId }));
  }

  /** Shows the lesson, or first waits until answers to an older version are saved. */
  start(): void {
    showTheme(this.#boot.theme?.css);
    for (const id of ['lectern-boot', 'lectern-steps']) document.getElementById(id)?.remove();
    this.#listen();
    if (!this.#saver.hasOlderVersion) this.#show();
    else void this.#saveOlderVersion().then((isSaved) => (isSaved ? this.#reload() : this.#show()));
  }

  #listen(): void {
    const saver = this.#saver;
    renewContent(this.#boot.content, this.#client, (renewed) => {
      this.#content = renewed;
      this.#frame.post({ type: 'content', base: this.#contentBase() });
    });
    addEventListener('online', () => {
      saver.skipWait();
      this.#update();
    });
    addEventListener('offline', () => this.#update());
    onPrintKeys(() => this.#frame.post({ type: 'print' }));
    const flush = () => saver.flush(this.#progress.position);
    addEventListener('pagehide', flush);
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'hidden') flush();
      else saver.skipWait();
    });
    addEventListener('beforeunload', (event) => {
      if (!saver.isStored && saver.state.unsent > 0) event.preventDefault();
    });
  }

  #show(): void {
    this.#progress.moveTo(this.#positions.positionInRecord(this.#saver.record));
    this.#frame.iframe.before(...launchLines(this.#boot).above);
    this.#frame.open();
    this.#frameTimer = setTimeout(() => {
      this.#isStuck = true;
      this.#update();
    }, frameTimeoutMs);
  }

  /** Waits until answers to an older version are saved. The server then adapts them to this version. */
  async #saveOlderVersion(): Promise<boolean> {
    const deadline = Date.now() + olderVersionTimeoutMs;
    while (this.#saver.hasOlderVersion && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return !this.#saver.hasOlderVersion;
  }

  #frameStart(): FrameStart {
    const { lesson, chunk, steps, versionId, language, launch, untracked, ...boot } = this.#boot;
    return {
      ...{ lesson, first: { chunk, steps }, versionId, language },
      messages: boot.lessonMessages,
      content: this.#contentBase(),
      styledWidgets: boot.styledWidgets ?? null,
      visible: this.#layout.visible(this.#frame.iframe),
      theme: boot.theme ?? null,
      scheme: currentScheme(),
      isRecorded: untracked === null,
      course: launch && { hasReturn: launch.returnUrl !== null, sendsGrade: launch.sendsGrade },
      state: progressForFrame(this.#saver.show()),
      startAt: this.#linked?.stepId,
      startAtBlock: this.#linked && linkedBlock(),
      isPreview: untracked === 'preview' || untracked === 'authorPreview',
      externalVideos: boot.externalVideos,
      pictureSizes: boot.pictureSizes ?? {},
    };
  }

  #contentBase(): string {
    return new URL(this.#content.base, location.href).href;
  }

  #onRequest(request: Exclude<HostRequest, { type: 'hello' }>): void {
    if (request.type === 'setToken') this.#renewToken(request.token);
    else if (request.type === 'viewport') this.#layout.setViewport(request);
    else if (request.type === 'colorScheme') {
      setScheme(request.scheme);
      this.#frame.post({ type: 'scheme', scheme: request.scheme });
    } else if (request.type === 'theme') {
      // Before the frame has started, it gets the theme with the lesson.
      this.#boot.theme = { logo: this.#boot.theme?.logo ?? null, css: request.css };
      showTheme(request.css);
      this.#frame.post(request);
    } else if (request.type === 'goTo' && !this.#frame.post(request))
      this.#linked = this.#positions.positionOf(request.stepId) ?? this.#linked;
  }

  #onFrameMessage(message: Exclude<FrameMessage, { type: 'unmounted' }>): void {
    switch (message.type) {
      case 'resize':
        return this.#layout.setHeight(message.height);
      case 'heading':
        document.title = pageTitle(message.heading, this.#boot.title);
        return;
      case 'error':
        return this.#host.send(message);
      case 'loadChunk':
        return void this.#sendChunk(message.chunk);
      case 'leave':
        return this.#leave();
      case 'video':
        if (this.#boot.externalVideos && isPressed()) this.#video.open(message.page);
        return;
      case 'ready':
        this.#onReady(message);
        break;
      case 'step':
        this.#steps.show({ stepId: message.stepId, atEnd: message.state.progressData.atEnd === true });
        // The player focuses the step, but not every browser scrolls the page around a frame for that.
        document.body.scrollTop = 0;
        break;
      case 'answer':
      case 'draft':
      case 'restart':
      case 'time':
      case 'variable':
    }
    this.#progress.onMessage(message);
  }

  #onReady({ stepId, atEnd }: { stepId: string; atEnd: boolean }): void {
    this.#linked = undefined;
    this.#steps.replace({ stepId, atEnd });
    this.#isStuck = false;
    clearTimeout(this.#frameTimer);
    this.#update();
  }

  async #sendChunk(chunk: number): Promise<void> {
    const steps = await this.#loadChunk(chunk);
    if (typeof steps === 'string') {
      this.#frame.post({ type: 'chunkFailed', chunk, isGone: steps === 'gone' });
    } else {
      this.#frame.post({ type: 'chunk', chunk, steps });
      this.#positions.addSteps(steps);
    }
  }

  #leave(): void {
    const returnUrl = this.#boot.launch?.returnUrl;
    if (returnUrl && isPressed() && this.#saver.record.status === 'completed') leaveFor(returnUrl);
  }

  #showVisible(): void {
    const visible = this.#layout.visible(this.#frame.iframe);
    if (visible) this.#frame.post({ type: 'visible', ...visible });
    this.#video.place();
  }

  #onSaved(record: SessionRecord, facts: readonly Fact[]): void {
    const { shown, record: known } = this.#saver;
    this.#hasSaved = true;
    this.#progress.onSaved(record, facts);
    if (facts.some(({ answer }) => answer)) this.#notices.answerSaved();
    if (record.attempt > shown.attempt) this.#elsewhere = 'attempt';
    else if (hasForeign(shown, known)) this.#elsewhere = 'answers';
  }

  #onLost(): void {
    this.#host.send({ type: 'error', code: 'not_saved', message: 'The server has rejected an answer' });
    this.#notices.lost();
  }

  #update(): void {
    const { hold, unsent } = this.#saver.state;
    // The host's earlier attempt may have failed offline.
    if (hold === 'expired' && !this.#isRejected) this.#tokens.rejected();
    this.#isRejected = hold === 'expired';
    if (hold === 'erased') this.#reload();
    this.#notices.update();
    const isKnown = this.#hasSaved || this.#saver.record.status !== 'not_started';
    this.#frame.post({ type: 'saved', isSaved: hold === null && unsent === 0 && isKnown });
    clearTimeout(this.#elsewhereTimer);
    if (this.#elsewhere !== 'nothing')
      this.#elsewhereTimer = setTimeout(() => this.#showElsewhere(), elsewhereDelayMs);
  }

  /** Shows what other tabs and devices have changed: beside the step, unless it concerns the step itself. */
  #showElsewhere(): void {
    // What the learner is typing comes first.
    if (this.#saver.hasDrafts) return;
    const isRestart = this.#elsewhere === 'attempt';
    this.#elsewhere = 'nothing';
    const { stepId } = this.#progress.position;
    const { shown, record } = this.#saver;
    const isAtEnd = shown.progressData?.atEnd === true;
    if (isRestart || isAtEnd || hasForeign(shown, record, stepId)) void this.#remount(isRestart);
    else this.#frame.post({ type: 'update', state: progressForFrame(this.#saver.show()), stepId });
  }

  /** Mounts the lesson again, at the step that is shown, or where a restart elsewhere has led. */
  async #remount(isRestart: boolean): Promise<void> {
    const mount = () => {
      const record = this.#saver.show();
      const recorded = this.#positions.positionInRecord(record);
      const position = isRestart ? recorded : this.#progress.position;
      this.#progress.moveTo(position);
      const startAt = this.#linked ?? (position === recorded ? undefined : position);
      this.#frame.post({ type: 'remount', state: progressForFrame(record), startAt: startAt?.stepId });
    };
    // A busy frame reports its unsubmitted answers late, and then mounts the lesson a second time.
    await this.#frame.unmount(mount);
    mount();
  }

  /** Reloads the page, so that the server decides again, also on the version. */
  #reload(): void {
    const query = new URLSearchParams({ token: this.#tokens.token() });
    const scheme = currentScheme();
    if (scheme) query.set('scheme', scheme);
    location.replace(`${location.pathname}?${query.toString()}`);
  }
}
