import { addMessages } from '../../shared/i18n/message.ts';
import type { LessonBoot } from './boot.ts';
import { openFrame, progressForFrame } from './frame-link.ts';
import { openHost, tellPlatform } from './host-link.ts';
import { launchLines } from './launch-lines.ts';
import { learnerNotices } from './learner-notices.ts';
import { learnerProgress } from './learner-progress.ts';
import type { Leftover } from './abandoned-saves.ts';
import { lessonPlaces } from './step-positions.ts';
import { projected } from './queued-write.ts';
import { openStorage, queueStore } from './queue-store.ts';
import { renewContent, tokenRenewal } from './renewal.ts';
import { emptyQueue, isCompleted } from './save-queue.ts';
import { createSaver, newId } from './saver.ts';
import { sessionClient } from './session-client.ts';
import type { SessionRecord } from './session-record.ts';
import { openTabs } from './tabs.ts';
import { claimsOf, keepToken, tokenStore } from './token-keeper.ts';
import { visibleHeight } from './visible-height.ts';
import { unrecordedSaver } from './unrecorded-saver.ts';

/** Milliseconds that the frame has to show the lesson, and that answers to an older version have to be saved. */
const frameDeadline = 20_000;
const olderVersionDeadline = 10_000;

/** Plays a lesson: brings together the frame with the player, saving, and the talk with the host. */
export function playPage(boot: LessonBoot, firstToken: string): void {
  const pageLanguage = document.documentElement.lang;
  addMessages(pageLanguage, boot.messages);
  const { versionId, language, launch } = boot;
  const places = lessonPlaces(boot.lesson);
  const tab = newId();
  const store = queueStore(openStorage('localStorage'), boot.learner, tab);
  const client = sessionClient(boot, () => tokens.token());
  const tokens = keepToken(
    { token: firstToken, expiresAt: Date.parse(boot.token.expiresAt) },
    tokenStore(openStorage('sessionStorage'), boot.lessonId),
    client.now,
    (expiresAt) => host.tell({ type: 'token.expiring', expiresAt: new Date(expiresAt).toISOString() }),
  );
  const openSaver = boot.untracked === null ? createSaver : unrecordedSaver;
  const saver = openSaver({
    queue: emptyQueue(boot.session),
    versionId,
    client,
    store,
    onChange: update,
    onSaved(record, write) {
      progress.onSaved(record, write);
      if (write.answers.length > 0) notices.answerSaved();
    },
    onConflict: (merge) => remount({ merge, isHere: true }),
    onLost() {
      host.tell({ type: 'error', code: 'not_saved', message: 'The server does not take an answer' });
      notices.lost();
    },
    onHandOver: (leftover) => tabs.give(leftover, saver.queue().record),
  });
  const tabs = openTabs(boot.learner, tab, {
    taken() {
      if (saver.queue().hold === 'elsewhere') return;
      saver.handOver();
      // What widgets held back follows.
      void remount({ isHere: true });
    },
    given(leftover, record, from) {
      if (saver.queue().hold === 'elsewhere') return;
      const before = saver.queue();
      saver.catchUp(record);
      takeOver(new Map([[from, leftover]]));
      const { record: after, writes } = saver.queue();
      if (after !== before.record || writes !== before.writes) void remount();
    },
  });
  const notices = learnerNotices(
    { language: pageLanguage, returnUrl: launch?.returnUrl ?? null },
    () => ({ queue: saver.queue(), isKept: saver.isKept(), isOnline: navigator.onLine, isStuck }),
    {
      elsewhere: { label: 'continueHere', act: reload },
      conflict: { label: 'continueHere', act: goOnHere },
      stuck: { label: 'reload', act: reload },
    },
  );
  const lines = launchLines(boot, pageLanguage);
  const host = openHost(boot.allowedOrigins, (request) => {
    if (request.type === 'setToken') takeToken(request.token);
    else if (request.type === 'viewport') visible.told(request.height);
    else if (request.type === 'goTo' && !frame.post(request))
      linked = places.placeOf(request.stepId) ?? linked;
  });
  const takeToken = tokenRenewal(boot, client, {
    renewed(token) {
      tokens.replace(token);
      saver.renewed();
    },
    refused: (code) => host.tell({ type: 'error', code, message: 'The token was not taken' }),
  });
  const progress = learnerProgress(boot, places, saver, host, places.placeOfRecord(boot.session));
  let content = new URL(boot.content.base, location.href).href;
  /** A deep link; it counts for the first time that the lesson is shown. */
  let linked = places.placeOf(new URLSearchParams(location.hash.slice(1)).get('step'));
  const visible = visibleHeight(() => frame.post({ type: 'visibleHeight', height: visible.now() }));
  let isStuck = false;
  let isRefused = false;

  const frame = openFrame(
    { src: boot.frameUrl, title: boot.title },
    () => ({
      lesson: boot.lesson,
      versionId,
      language,
      content,
      styledWidgets: boot.styledWidgets ?? null,
      visibleHeight: visible.now(),
      state: progressForFrame(stateNow()),
      startAt: linked?.stepId,
    }),
    (message) => {
      if (message.type === 'resize') frame.iframe.style.blockSize = `${message.height}px`;
      else if (message.type === 'error') host.tell(message);
      else {
        if (message.type === 'ready') onReady();
        // The player gives the focus to the step; not every browser scrolls around a frame for that.
        if (message.type === 'step' && scrollY > 0) scrollTo({ top: 0 });
        progress.onMessage(message);
      }
    },
  );

  function stateNow(): SessionRecord {
    const { record, writes } = saver.queue();
    return projected(record, writes);
  }

  function onReady(): void {
    linked = undefined;
    // A reload goes on where the learner is by then.
    if (location.hash !== '') history.replaceState(history.state, '', location.pathname + location.search);
    isStuck = false;
    clearTimeout(frameTimer);
    update();
  }

  function update(): void {
    const { hold } = saver.queue();
    // The host may have been asked while the network was away.
    if (hold === 'expired' && !isRefused) tokens.refused();
    isRefused = hold === 'expired';
    frame.iframe.inert = hold === 'elsewhere' || hold === 'conflict';
    notices.update();
    lines.update(isCompleted(saver.queue()));
  }

  function goOnHere(): void {
    saver.goOnHere(progress.place());
    frame.iframe.focus();
  }

  /**
   * Mounts the lesson again with what is known by now. What widgets held back is reported first, so that it is part of
   * that: a learner's text is not lost.
   *
   * @param options.merge adds to what is known, after that
   * @param options.isHere at the step that is shown, instead of the one that is known
   */
  async function remount({ merge, isHere = false }: { merge?: () => void; isHere?: boolean } = {}) {
    const mount = () => {
      const state = stateNow();
      const known = places.placeOfRecord(state);
      const place = isHere ? progress.place() : known;
      progress.moveTo(place);
      const startAt = linked ?? (place === known ? undefined : place);
      frame.post({ type: 'remount', state: progressForFrame(state), startAt: startAt?.stepId });
    };
    // What a busy frame reports late is not in the state that it is mounted with first.
    await frame.unmount(mount);
    merge?.();
    mount();
  }

  /** The server then has the last word on everything, the version to play included. */
  function reload(): void {
    const query = new URLSearchParams({ token: tokens.token() }).toString();
    location.replace(`${location.pathname}?${query}`);
  }

  /** A token for one version saves nothing of another: that waits for another token. */
  function takeOver(left: ReadonlyMap<string, Leftover>): void {
    const { versionId: pinned } = claimsOf(tokens.token());
    const usable = [...left].filter(
      ([, { writes }]) => pinned === undefined || writes.every((write) => write.versionId === pinned),
    );
    const place = places.placeOfRecord(saver.queue().record);
    const leftovers = usable.map(([, leftover]) => leftover);
    saver.adopt(leftovers, { place, versionId });
    if (saver.isKept()) for (const [from] of usable) store.forget(from);
  }

  function hasOlderVersion(): boolean {
    return saver.queue().writes.some((write) => write.versionId !== versionId);
  }

  let frameTimer: ReturnType<typeof setTimeout> | undefined;

  function show(): void {
    progress.moveTo(places.placeOfRecord(stateNow()));
    document.body.append(...lines.above, frame.iframe, ...lines.below);
    frameTimer = setTimeout(() => {
      isStuck = true;
      update();
    }, frameDeadline);
  }

  /** What was answered in an older version is saved there first: the server then says what it means in this one. */
  async function settleOlderVersion(): Promise<boolean> {
    const giveUpAt = Date.now() + olderVersionDeadline;
    while (hasOlderVersion() && Date.now() < giveUpAt) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return !hasOlderVersion();
  }

  document.body.className = 'lectern-embed';
  document.body.replaceChildren(notices.root);
  new ResizeObserver(([entry]) => {
    const isSized = frame.iframe.style.blockSize !== '';
    if (!entry || !isSized) return;
    const height = Math.ceil(entry.contentRect.height);
    host.tell({ type: 'resize', height });
    if (launch !== null) tellPlatform(height);
  }).observe(document.body);
  renewContent(boot.content, client, (base) => {
    content = new URL(base, location.href).href;
    frame.post({ type: 'content', base: content });
  });
  addEventListener('online', saver.hurry);
  addEventListener('offline', update);
  addEventListener('pagehide', saver.flush);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') saver.flush();
    else saver.hurry();
  });
  addEventListener('beforeunload', (event) => {
    if (!saver.isKept() && saver.queue().writes.length > 0) event.preventDefault();
  });

  takeOver(store.others());
  tabs.take();
  if (hasOlderVersion()) void settleOlderVersion().then((isSettled) => (isSettled ? reload() : show()));
  else show();
}
