import { creditsFrom } from '../credits.ts';
import { element } from '../dom.ts';
import { message, textDirection } from '../../shared/i18n/message.ts';
import { openArchive } from './archive.ts';
import type { Archive } from './archive.ts';
import { notice } from '../figure.ts';
import type { LessonErrorCode, LessonHandle, LessonOptions } from './options.ts';
import { callSafely, LessonPlay } from './play-lesson.ts';
import { readLesson } from './read-lesson.ts';
import type { PlayedLesson } from './read-lesson.ts';
import { widgetLoader } from './widget-loader.ts';
import type { WidgetSource } from './widget-loader.ts';

/**
 * Plays a lesson in an element of the page. It never throws because of the lesson: an invalid lesson shows a notice in
 * its place and calls `onError`.
 *
 * @param read for the embed page, which has a lesson of another form
 */
export function mountLesson(
  options: LessonOptions,
  read: (lesson: unknown) => PlayedLesson = (lesson) => readLesson(lesson, options.ownTypes),
): LessonHandle & Pick<LessonPlay, 'update'> {
  const root = element('div', { class: 'lectern-lesson' });
  const abort = new AbortController();
  let played: LessonPlay | undefined;
  let isAlive = true;
  options.element.append(root);

  function setLanguage(language: string): void {
    root.lang = language;
    root.dir = textDirection(language);
  }

  /** Shows that the lesson cannot be played. Calls `onError` later, when the caller has the handle. */
  function fail(code: LessonErrorCode, cause: unknown): void {
    root.removeAttribute('aria-busy');
    const alert = notice(message(root.lang, 'lesson.lessonMissing'));
    alert.setAttribute('role', 'alert');
    root.replaceChildren(alert);
    queueMicrotask(() => report({ code, message: messageOf(cause), cause }));
  }

  function report(error: Parameters<NonNullable<LessonOptions['onError']>>[0]): void {
    if (isAlive) callSafely(options.onError, error);
  }

  function play(value: unknown, archive: Archive | undefined): void {
    let lesson;
    try {
      lesson = read(value);
    } catch (error) {
      return fail('invalid_lesson', error);
    }
    if (lesson.steps.length === 0) return fail('invalid_lesson', new Error('The lesson has no steps'));
    const language = options.language ?? lesson.language ?? 'en';
    setLanguage(language);
    root.setAttribute('role', 'region');
    root.setAttribute('aria-label', lesson.title);
    const sources = [options.loadWidget, archive?.loadWidget].filter(
      (source): source is WidgetSource => source !== undefined,
    );
    played = new LessonPlay(root, options, {
      lesson,
      versionId: options.versionId ?? archive?.versionId,
      language,
      resolveMedia: (src) => {
        const url = options.resolveMedia?.(src) ?? src;
        return archive && url === src ? archive.resolveMedia(src) : url;
      },
      credits: creditsFrom(options.attributions ?? archive?.attributions ?? lesson.attributions),
      widgetFor: widgetLoader(sources, language, lesson.ownTypes),
      report,
    });
  }

  async function fetchAndPlay(base: string | URL): Promise<void> {
    root.setAttribute('aria-busy', 'true');
    const loading = message(root.lang, 'lesson.loading');
    root.append(element('p', { class: 'lectern-block lectern-loading', role: 'status' }, loading));
    try {
      const archive = await openArchive(base, abort.signal);
      if (!isAlive) return;
      root.removeAttribute('aria-busy');
      root.replaceChildren();
      play(archive.lesson, archive);
    } catch (error) {
      if (isAlive) fail('lesson_not_loaded', error);
    }
  }

  setLanguage(options.language ?? 'en');
  if (options.base === undefined) play(options.lesson, undefined);
  else void fetchAndPlay(options.base);

  return {
    goTo: (stepId) => played?.goTo(stepId) ?? false,
    next: () => played?.next() ?? false,
    back: () => played?.back() ?? false,
    state: () => played?.state(),
    update: (change) => played?.update(change),
    destroy() {
      abort.abort();
      played?.destroy();
      isAlive = false;
      root.remove();
    },
  };
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
