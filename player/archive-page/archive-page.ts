import type { LessonEvent, LessonHandle, LessonOptions } from '../lesson/options.ts';
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
      ? browserProgress(progressKey(lessonId, versionId), (cause) =>
          host.tell('error', { code: 'progress_not_kept', message: String(cause), cause }),
        )
      : noProgress;
  const keep = (event: LessonEvent) => progress.keep(event);

  element.replaceChildren();
  Lectern.mountLesson({
    element,
    lesson,
    versionId,
    state: host.state ?? progress.read(),
    startAt: takeStepFromAddress(),
    resolveMedia: inlineCaptions(files.captions),
    loadWidget: inlineWidgets(files.widgets),
    onReady: (event) => host.tell('ready', event),
    onStepChange(event) {
      keep(event);
      host.tell('step', event);
    },
    onAnswer(event) {
      keep(event);
      host.tell('answer', event);
    },
    onVariableChange: keep,
    onRestart: keep,
    onComplete(event) {
      keep(event);
      host.tell('complete', event);
    },
    onError: (error) => host.tell('error', error),
  });
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
