import { createServer } from 'node:http';
import type { BrowserContext, Frame, Page } from 'playwright-core';
import { afterEach, expect } from 'vitest';
import type { LessonVersion } from '../../../shared/models/lesson-version.ts';
import { bytesOf } from '../../../shared/storage/digest.ts';
import { releaseWidget } from '../../../shared/widgets/releases.ts';
import { ask, jsonOf } from '../../support/answers.ts';
import { buildLearnerToken } from '../../support/factories.ts';
import { closeContexts } from '../../support/browser.ts';
import { listen } from '../../support/serve.ts';
import { useApi, useBrowser, useStarted } from '../../support/use.ts';
import type { Api } from '../../support/use.ts';
import { waitFor } from '../../support/wait-for.ts';
import { heading, publishLesson, question, section, step } from '../player-lessons.ts';

export type Progress = Record<string, unknown> & {
  status: string;
  items: { widgetId: string; stepId: string; answer: unknown; score: number | null }[] | null;
};

/** An event as received by the host page. */
export type HostEvent = Record<string, unknown> & { type: string };

export interface OpenOptions {
  context?: BrowserContext;
  /** The learner's token; '' for none. */
  token?: string;
  /** JavaScript source of more options for `LecternEmbed.mount`, such as `getToken: () => ...`. */
  more?: string;
}

export type HostPage = ReturnType<typeof hostPage>;

type Lesson = Pick<LessonVersion, 'lessonId'>;

/**
 * Starts a Lectern, a browser, and an integrator's site that is cross-site to Lectern. Closes what a test has opened in
 * the browser after it.
 */
export function useEmbedLab() {
  // A browser, a server and two frames are slow on a busy machine.
  const api = useApi();
  const browser = useBrowser();
  const site = useStarted(
    () => startSite(() => api.url),
    (started) => started.close(),
  );
  afterEach(() => closeContexts(browser));

  /** Opens a host page with a lesson, by default in a new browser context. */
  async function open(
    lesson: LessonVersion,
    { context, token = buildLearnerToken(lesson), more = '' }: OpenOptions = {},
  ): Promise<HostPage> {
    const page = await (context ?? (await browser.newContext())).newPage();
    await page.goto(site.origin);
    const opened = hostPage(page);
    await opened.mount(`lessonId: '${lesson.lessonId}', ${token && `token: '${token}',`} ${more}`);
    return opened;
  }

  /** Returns a learner's progress as an integrator reads it; null before the first write. */
  async function progressOf({ lessonId }: Lesson, learnerId = 'learner-1'): Promise<Progress | null> {
    const url = `${api.url}/api/public/lessons/${lessonId}/progress/${learnerId}`;
    const answer = await ask(url, { headers: api.headers });
    return answer.status === 404 ? null : (jsonOf(answer) as Progress);
  }

  return {
    api,
    browser,
    get hostOrigin() {
      return site.origin;
    },
    open,
    progressOf,
    /** Opens a lesson, by default a new quiz, and waits until its first view is saved: until it is of no concern. */
    async start({ version, ...options }: OpenOptions & { version?: LessonVersion } = {}) {
      const lesson = version ?? (await publishQuiz({ api }));
      const context = options.context ?? (await browser.newContext());
      const learner = await open(lesson, { ...options, context });
      await seeStep(learner, 's1');
      await waitFor('the first view', () => progressOf(lesson));
      return { version: lesson, context, learner };
    },
    /** Waits until a record has these fields. */
    async seeRecord(lesson: Lesson, fields: object, learnerId?: string): Promise<void> {
      await expect.poll(() => progressOf(lesson, learnerId)).toMatchObject(fields);
    },
    /** Waits until a record has these answers, by widget id. */
    async seeSaved(lesson: Lesson, answers: Record<string, unknown>): Promise<void> {
      await expect.poll(async () => answersIn(await progressOf(lesson))).toMatchObject(answers);
    },
  };
}

/** Serves a page with a container for the lesson, and with Lectern's script, at every URL. */
function startSite(lecternUrl: () => string) {
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(`<!doctype html>
      <title>A course</title>
      <h1>A course</h1>
      <div id="course"></div>
      <script>const events = []; let embed;</script>
      <script src="${lecternUrl()}/embed.js"></script>`);
  });
  return listen(server, 'localhost');
}

/** An integrator's page with a lesson in it. */
export function hostPage(page: Page) {
  const outer = page.frameLocator('#course iframe');
  const events = () => page.evaluate<HostEvent[]>('events');
  return {
    page,
    /** Lectern's page in the frame. */
    outer,
    /** The player in the inner frame. */
    lesson: outer.frameLocator('iframe'),
    /** The frame of a custom widget. @param id of its block */
    widget: (id: string) =>
      outer.frameLocator('iframe').locator(`[data-lectern-block="${id}"] > iframe`).contentFrame(),
    /** Mounts a lesson on the page. @param options JavaScript source of the properties of the options object */
    mount: (options: string): Promise<void> =>
      page.evaluate(`embed = LecternEmbed.mount(document.getElementById('course'), {
        onEvent: (event) => events.push(event), ${options} })`),
    /** Returns the events that the page has received so far. */
    events,
    /** Returns the codes of the errors among them. */
    errorCodes: async () => (await events()).filter(({ type }) => type === 'error').map(({ code }) => code),
    /** Waits until the page has received such an event, and returns the last one. */
    event: async (type: string) => {
      await page.waitForFunction(`events.some(({ type }) => type === '${type}')`);
      const found = (await events()).findLast((event) => event.type === type);
      if (found === undefined) throw new Error(`no event ${type}`);
      return found;
    },
  };
}

/** Publishes a quiz: s1 to read, s2 with question q2 (2 points), s3 with question q3 (1 point); `b` is correct. */
export function publishQuiz(
  { api }: { api: Api },
  { lessonId, organization = api.organization }: Partial<Lesson & Pick<Api, 'organization'>> = {},
): Promise<LessonVersion> {
  const sections = [
    section('one', step('s1', heading()), step('s2', question('q2', 2))),
    section('two', step('s3', question('q3'))),
  ];
  return publishLesson(api, organization, { sections, ...(lessonId && { lessonId }) });
}

/**
 * Publishes one step with custom widgets, whose ids are their types, and the question q1 after them.
 *
 * @param modules the source of each widget's module by type
 * @param styles stylesheets by type
 */
export async function publishWidgets(
  { api }: { api: Api },
  modules: Record<string, string>,
  styles: Record<string, string> = {},
): Promise<LessonVersion> {
  const types = Object.keys(modules);
  for (const type of types) {
    const [js, css] = [modules[type], styles[type]].map((text) =>
      text === undefined ? null : bytesOf(Buffer.from(text)),
    );
    const { db, store, organization } = api;
    if (js) await releaseWidget(db, store, { organizationId: organization._id, type, js, css: css ?? null });
  }
  const blocks = types.map((type) => ({ type, props: { id: type, points: 4 } }));
  return publishLesson(api, api.organization, {
    sections: [section('one', step('s1', ...blocks, question('q1')))],
  });
}

/** Waits until a step with this id is shown; test lessons have the id in the title. */
export async function seeStep({ lesson }: Pick<HostPage, 'lesson'>, stepId: string): Promise<void> {
  await lesson.getByRole('heading', { name: `Title of ${stepId}`, exact: true }).waitFor();
}

export async function press({ lesson }: Pick<HostPage, 'lesson'>, name: string): Promise<void> {
  await lesson.getByRole('button', { name, exact: true }).click();
}

/** Finishes the lesson although questions are unanswered, which the player asks about first. */
export async function finishAnyway(page: Pick<HostPage, 'lesson'>): Promise<void> {
  await press(page, 'Finish');
  await page.lesson.getByRole('dialog').getByRole('button', { name: 'Finish' }).click();
}

/** Answers the question of the current step. */
export async function choose(page: Pick<HostPage, 'lesson'>, choice: string): Promise<void> {
  await page.lesson.getByRole('radio', { name: choice, exact: true }).check();
  await press(page, 'Check answer');
}

/** Waits until a choice is shown as selected; its accessible name then includes its feedback. */
export async function seeChosen({ lesson }: Pick<HostPage, 'lesson'>, choice: string): Promise<void> {
  await lesson.getByRole('radio', { name: new RegExp(`^${choice}\\b`), checked: true }).waitFor();
}

/** Waits until a notice with this text is shown around the lesson. */
export async function seeNotice({ outer }: HostPage, text: string): Promise<void> {
  await outer.locator('.lectern-embed-notices').getByText(text).waitFor();
}

/** Returns the frame with Lectern's page; undefined before it has loaded. */
export function outerFrame(page: Page): Frame | undefined {
  return page.frames().find((frame) => frame.url().includes('/embed/'));
}

/** Reloads Lectern's page. A page that waits for a token replaces itself as soon as it has one. */
export async function reloadFrame({ page }: HostPage): Promise<void> {
  const frame = outerFrame(page);
  await frame?.goto(frame.url()).catch(() => undefined);
}

/** Returns the content of the browser's storage for Lectern. */
export async function storageOf({ page }: Pick<HostPage, 'page'>): Promise<string> {
  return (await outerFrame(page)?.evaluate<string>('JSON.stringify(localStorage)')) ?? '';
}

/** Waits until the browser has stored an answer; after that, closing the page loses nothing. */
export async function seeKept(host: HostPage, text: string): Promise<void> {
  await waitFor('the answer in the browser', async () => (await storageOf(host)).includes(text));
}

/** Returns the answers in a record by widget id. */
export function answersIn(progress: Progress | null): Record<string, unknown> {
  return Object.fromEntries((progress?.items ?? []).map(({ widgetId, answer }) => [widgetId, answer]));
}
