import type { LessonEvent, LessonHandle, LessonOptions } from '../lesson/options.ts';
import type { LessonState } from '../lesson/state.ts';
import { pageHost } from './page-host.ts';
import { inlineCaptions, inlineWidgets } from './inline-files.ts';
import type { InlineFiles } from './inline-files.ts';
import { browserProgress, noProgress, progressKey } from './kept-progress.ts';

/*
 * The script of an archive's index.html. It plays the lesson that the page carries in itself: a page that was opened
 * from a folder may fetch nothing and import no file.
 */

/** What player.classic.js leaves on the page. */
declare const Lectern: { mountLesson(options: LessonOptions): LessonHandle };

const place = document.getElementById('lectern-lesson');
if (place !== null) play(place);

function play(element: HTMLElement): void {
  const lesson = readJson('lectern-lesson-json');
  const { versionId, ...files } = readJson('lectern-archive-json') as { versionId: string } & InlineFiles;
  const host = pageHost(element);
  const lessonId = String((lesson as { lesson: { id: unknown } }).lesson.id);
  const progress =
    host.state === undefined
      ? browserProgress(progressKey(lessonId, versionId), {
          failed: (cause) => host.tell('error', { code: 'progress_not_kept', message: String(cause), cause }),
          changed: follow,
        })
      : noProgress;
  const keep = (event: LessonEvent) => progress.keep(event);
  let isReady = false;

  function mount(state: unknown, startAt?: string): LessonHandle {
    return Lectern.mountLesson({
      element,
      lesson,
      versionId,
      state,
      startAt,
      resolveMedia: inlineCaptions(files.captions),
      loadWidget: inlineWidgets(files.widgets),
      onReady(event) {
        if (!isReady) host.tell('ready', event);
        isReady = true;
      },
      onStepChange(event) {
        keep(event);
        host.tell('step', event);
      },
      onAnswer(event) {
        keep(event);
        host.tell('answer', event);
      },
      onVariableChange: keep,
      onRestart: (event) => progress.restart(event),
      onComplete(event) {
        keep(event);
        host.tell('complete', event);
      },
      onError: (error) => host.tell('error', error),
    });
  }

  /** Shows what another tab has kept, at the step that is shown here unless the learner has begun again there. */
  function follow(isRestart: boolean): void {
    const here = handle.state();
    // Text that was not submitted is reported and kept now.
    handle.destroy();
    const kept = progress.read() as LessonState;
    if (isRestart || here === undefined) handle = mount(kept);
    else {
      const { sectionIndex, stepIndex, stepId, progressData } = here;
      const { atEnd } = progressData;
      const place = { sectionIndex, stepIndex, stepId };
      handle = mount({ ...kept, ...place, progressData: { ...kept.progressData, atEnd } });
    }
  }

  element.replaceChildren();
  let handle = mount(host.state ?? progress.read(), takeStepFromAddress());
}

function readJson(id: string): unknown {
  return JSON.parse(document.getElementById(id)?.textContent ?? 'null');
}

/** `index.html#<id of a step>` starts there; once, for the step that a reload shows is the one that was left. */
function takeStepFromAddress(): string | undefined {
  const { hash, href } = location;
  if (hash === '') return undefined;
  history.replaceState(history.state, '', href.slice(0, -hash.length));
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return undefined;
  }
}
