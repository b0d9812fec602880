import type { LessonEvent, LessonHandle, LessonOptions } from '../lesson/options.ts';
import type { LessonState } from '../lesson/state.ts';
import { linkedStep, pageTitle, stepHistory } from '../step-history.ts';
import { pageHost } from './page-host.ts';
import { confinePage, inlineMedia, inlineWidgets, ownFiles } from './inline-files.ts';
import type { InlineFiles } from './inline-files.ts';
import { browserProgress, noProgress, progressKey } from './stored-progress.ts';

/*
 * The script of an archive's index.html. It plays the lesson that the page itself contains, because a page from a folder
 * (file:) can neither fetch nor import a file.
 */

/** The global that player.classic.js defines. */
declare const Lectern: { mountLesson(options: LessonOptions): LessonHandle };

/** `index.html#<step id>`. */
const fragments: Parameters<typeof stepHistory>[0] = {
  of: (stepId) => `#${encodeURIComponent(stepId)}`,
  read(fragment) {
    try {
      return decodeURIComponent(fragment.slice(1)) || undefined;
    } catch {
      return undefined;
    }
  },
};

const container = document.getElementById('lectern-lesson');
// In browsers that cannot run the player, the page's notes stay.
if (container !== null && 'Lectern' in globalThis) play(container);

function play(element: HTMLElement): void {
  const lesson = readJson('lectern-lesson-json');
  const { versionId, ...files } = readJson('lectern-archive-json') as { versionId: string } & InlineFiles;
  confinePage();
  const host = pageHost(element);
  const lessonId = String((lesson as { lesson: { id: unknown } }).lesson.id);
  const progress =
    host.state === undefined
      ? browserProgress(progressKey(lessonId, versionId), {
          failed: (cause) =>
            host.report('error', { code: 'progress_not_kept', message: String(cause), cause }),
          changed: showStored,
        })
      : noProgress;
  const save = (event: LessonEvent) => progress.save(event);
  const lessonTitle = document.title;
  const resolveMedia = ownFiles(inlineMedia(files));
  let isReady = false;

  function mount(state: unknown, { startAt, cover }: Pick<LessonOptions, 'startAt' | 'cover'>): LessonHandle {
    return Lectern.mountLesson({
      element,
      lesson,
      versionId,
      state,
      startAt,
      cover,
      resolveMedia,
      loadWidget: inlineWidgets(files.widgets),
      // The page contains only custom widgets.
      ownTypes: Object.keys(files.widgets),
      attributions: files.attributions,
      logo: files.logo,
      // Teachers present from the archive's folder. In a frame, the page around it decides what it offers.
      canPresent: window === parent,
      onReady(event) {
        const { stepId, progressData } = event;
        steps.replace({ stepId, atEnd: progressData.atEnd });
        if (!isReady) host.report('ready', event);
        isReady = true;
      },
      onStepChange(event) {
        const { stepId, progressData } = event;
        steps.show({ stepId, atEnd: progressData.atEnd });
        save(event);
        host.report('step', event);
      },
      onAnswer(event) {
        save(event);
        host.report('answer', event);
      },
      onHeading: (heading) => (document.title = pageTitle(heading, lessonTitle)),
      onVariableChange: save,
      onRestart: (event) => progress.restart(event),
      onComplete(event) {
        save(event);
        host.report('complete', event);
      },
      onError: (error) => host.report('error', error),
    });
  }

  /** Shows the progress that another tab has stored, at the current step unless the learner has restarted there. */
  function showStored(isRestart: boolean): void {
    const here = handle.state();
    // The player now reports unsubmitted text, which is then stored.
    handle.destroy();
    const stored = progress.read() as LessonState;
    if (isRestart || here === undefined) handle = mount(stored, { cover: false });
    else {
      const { sectionIndex, stepIndex, stepId, progressData } = here;
      const { atEnd } = progressData;
      const position = { sectionIndex, stepIndex, stepId };
      const state = { ...stored, ...position, progressData: { ...stored.progressData, atEnd } };
      handle = mount(state, { cover: false });
    }
  }

  element.replaceChildren();
  document.documentElement.style.setProperty('--lectern-min-height', '100svh');
  const steps = stepHistory(fragments, (stepId) => handle.goTo(stepId));
  let handle = mount(host.state ?? progress.read(), { startAt: linkedStep(fragments) });
}

function readJson(id: string): unknown {
  return JSON.parse(document.getElementById(id)?.textContent ?? 'null');
}
