import { message, supportedLanguage, textDirection } from '../../shared/i18n/message.ts';
import type { LessonContent } from '../../shared/lessons/lesson-content.ts';
import { lessonMapOf } from '../../shared/lms/lesson-map.ts';
import type { LessonMap } from '../../shared/lms/lesson-map.ts';
import type { PackageOptions } from '../../shared/lms/package-options.ts';
import {
  confinePage,
  folderSource,
  inlineMedia,
  inlineWidgets,
  ownFiles,
} from '../archive-page/inline-files.ts';
import type { InlineFiles } from '../archive-page/inline-files.ts';
import { browserProgress, progressKey } from '../archive-page/stored-progress.ts';
import { element } from '../dom.ts';
import type { LessonEvent, LessonHandle, LessonOptions } from '../lesson/options.ts';
import { pageTitle } from '../step-history.ts';
import type { Tracker, TrackerEvents } from './tracker.ts';

/*
 * The page of a package for learning platforms. It plays the lesson that it contains, as an archive's page does, and
 * records progress in the platform.
 */

/** The global that player.classic.js defines. */
declare const Lectern: { mountLesson(options: LessonOptions): LessonHandle };

/** Settings that worker/exports/profiles/ writes into the page for this script. */
export interface PackageSettings {
  /** The format of the package: `scorm12`, … */
  format: string;
  options: PackageOptions;
  maxStateCharacters: number;
}

export interface PageParts extends PackageSettings {
  map: LessonMap;
  /** The language of the lesson: a BCP 47 tag. */
  language: string;
}

/** Connects to the platform; null if there is none. */
export type Connect = (parts: PageParts, events: TrackerEvents) => Tracker | null | Promise<Tracker | null>;

/**
 * Plays the lesson of the page.
 *
 * @param connect called once
 * @param servers the sources to which it sends
 */
export async function playPackage(connect: Connect, servers: readonly string[] = []): Promise<void> {
  const container = document.getElementById('lectern-lesson');
  // In browsers that cannot run the player, the page's notes stay.
  if (container === null || !('Lectern' in globalThis)) return;
  confinePage([folderSource(), ...servers].join(' '));
  const lesson = readJson('lectern-lesson-json') as LessonContent;
  const { versionId, ...files } = readJson('lectern-archive-json') as { versionId: string } & InlineFiles;
  const settings = readJson('lectern-package-json') as PackageSettings;
  const language = lesson.lesson.language ?? 'en';
  const bar = packageBar(supportedLanguage(language) ?? 'en', () => leave(true));
  container.before(bar.element);

  // The page contains only custom widgets.
  const ownTypes = Object.keys(files.widgets);
  const parts = { ...settings, map: lessonMapOf(lesson, ownTypes), language };
  const tracker = await connect(parts, {
    onRecording: (isRecording) => bar.show(isRecording ? null : 'lms.notSaved'),
  });
  const inBrowser = tracker === null ? localProgress(lesson.lesson.id, versionId) : null;
  if (tracker === null) bar.show('lms.notConnected');
  else if (tracker.mode !== 'normal') bar.show(tracker.mode === 'review' ? 'lms.review' : 'lms.browse');
  if (tracker !== null) bar.showExit(tracker.mode === 'normal' ? 'lms.exit' : 'lms.leave');

  const record = (event: LessonEvent) => {
    tracker?.update(event);
    inBrowser?.save(event);
  };
  if (tracker?.isMuted === true) document.addEventListener('play', mute, { capture: true });
  container.replaceChildren();
  const lessonTitle = document.title;
  const state: unknown = tracker === null ? inBrowser?.read() : tracker.state;
  const handle = Lectern.mountLesson({
    element: container,
    lesson,
    versionId,
    language: lesson.lesson.language ?? tracker?.languages?.[0],
    state,
    // A learner who returns from the platform continues at once.
    cover: state === undefined || state === null,
    resolveMedia: ownFiles(inlineMedia(files)),
    loadWidget: inlineWidgets(files.widgets),
    ownTypes,
    attributions: files.attributions,
    logo: files.logo,
    onReady: record,
    onStepChange: record,
    onHeading: (heading) => (document.title = pageTitle(heading, lessonTitle)),
    onAnswer(event) {
      tracker?.update(event, event.item);
      inBrowser?.save(event);
    },
    onVariableChange: record,
    onComplete: record,
    onRestart(event) {
      tracker?.update(event);
      inBrowser?.restart(event);
    },
  });

  function leave(isExit: boolean): void {
    // The player reports unsubmitted text now.
    if (isExit) handle.destroy();
    tracker?.end(isExit);
    if (isExit) bar.end();
  }

  // These listeners run after the player's, which report unsubmitted text. A hidden page may get no further event.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') tracker?.flush();
  });
  window.addEventListener('pagehide', () => leave(false));
  // The session has ended: a page from the back/forward cache needs another one.
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });
}

/** Mutes a medium when it first plays; the learner may turn the sound on. */
function mute({ target }: Event): void {
  if (!(target instanceof HTMLMediaElement) || target.dataset.isMuted !== undefined) return;
  target.dataset.isMuted = '';
  target.muted = true;
}

/** Keeps progress in this browser. Ignores failures, because the page already says that nothing is recorded. */
function localProgress(lessonId: string, versionId: string) {
  return browserProgress(progressKey(lessonId, versionId), {
    failed: () => undefined,
    changed: () => undefined,
  });
}

type Note = 'lms.notConnected' | 'lms.notSaved' | 'lms.review' | 'lms.browse';

/** Makes the bar above the lesson: a note for the learner, and the button that ends the session. */
function packageBar(language: string, onExit: () => void) {
  const note = element('p', { class: 'lectern-package-note', role: 'status' });
  const exit = element('button', { class: 'lectern-button lectern-is-quiet', type: 'button', hidden: true });
  const retry = element('button', { class: 'lectern-button lectern-is-quiet', type: 'button', hidden: true });
  retry.textContent = message(language, 'lms.retry');
  exit.addEventListener('click', onExit);
  retry.addEventListener('click', () => location.reload());
  const dir = textDirection(language);
  const bar = element('div', { class: 'lectern-package-bar', lang: language, dir }, note, retry, exit);
  return {
    element: bar,
    show(text: Note | null) {
      note.textContent = text === null ? '' : message(language, text);
      retry.hidden = text !== 'lms.notConnected';
    },
    showExit(text: 'lms.exit' | 'lms.leave') {
      exit.textContent = message(language, text);
      exit.hidden = false;
    },
    end() {
      exit.hidden = true;
      note.textContent = message(language, 'lms.ended');
      // Works only for windows that a script opened.
      if (window.opener !== null) window.close();
    },
  };
}

function readJson(id: string): unknown {
  return JSON.parse(document.getElementById(id)?.textContent ?? 'null');
}
