import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Frame, FrameLocator, Page } from 'playwright-core';
import type { LessonVersion } from '../../../shared/models/lesson-version.ts';
import type { Organization } from '../../../shared/models/organization.ts';
import { ask, jsonOf } from '../../support/answers.ts';
import { afterAll, beforeAll, vi } from 'vitest';
import { launchBrowser } from '../../support/browser.ts';
import { buildLearnerToken, buildOrganization } from '../../support/factories.ts';
import { startHarness } from '../../support/harness.ts';
import type { Harness } from '../../support/harness.ts';
import { waitFor } from '../../support/wait-for.ts';

/** An integrator's site on its own origin, a Lectern, and a browser. */
export interface EmbedLab {
  harness: Harness;
  /** Lectern's base URL. */
  address: string;
  /** Origin of the host pages, which is cross-site to Lectern. */
  hostOrigin: string;
  organization: Organization;
  browser: Browser;
  /** Returns a learner's progress as an integrator reads it; null before the first write. */
  progressOf(lesson: Pick<LessonVersion, 'lessonId'>, learnerId?: string): Promise<Progress | null>;
  /** Opens a host page with a lesson, by default in a new browser context. */
  open(lesson: LessonVersion, options?: OpenOptions): Promise<HostPage>;
}

export interface OpenOptions {
  context?: BrowserContext;
  /** The learner's token; '' for none. */
  token?: string;
  /** JavaScript source of more options for `LecternEmbed.mount`, such as `getToken: () => ...`. */
  more?: string;
}

export type Progress = Record<string, unknown> & {
  status: string;
  items: { widgetId: string; stepId: string; answer: unknown; score: number | null }[] | null;
};

/** An event as received by the host page. */
export type HostEvent = Record<string, unknown> & { type: string };

/** An integrator's page with a lesson in it. */
export interface HostPage {
  page: Page;
  /** Lectern's page in the frame. */
  outer: FrameLocator;
  /** The player in the inner frame. */
  lesson: FrameLocator;
  /**
   * Mounts a lesson on the page.
   * @param options JavaScript source of the properties of the options object
   */
  mount(this: void, options: string): Promise<void>;
  /** Returns the events that the page has received so far. */
  events(this: void): Promise<HostEvent[]>;
  /** Waits until the page has received such an event, and returns it. */
  event(this: void, type: string): Promise<HostEvent>;
}

/** The host page: a container for the lesson, and Lectern's script. */
const hostHtml = (address: string) => `<!doctype html>
  <title>A course</title>
  <h1>A course</h1>
  <div id="course"></div>
  <script>const events = []; let embed;</script>
  <script src="${address}/embed.js"></script>`;

/**
 * Starts everything that the tests of one file need, and stops it afterwards. Call it at the top
 * of the file; use the lab's properties only inside tests.
 */
export function useEmbedLab(): EmbedLab {
  // A browser, a server and two frames are slow on a busy machine.
  vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });
  const lab = {} as EmbedLab & { close(): Promise<void> };
  beforeAll(async () => {
    Object.assign(lab, await startLab());
  });
  afterAll(() => lab.close());
  return lab;
}

async function startLab(): Promise<EmbedLab & { close(): Promise<void> }> {
  const harness = await startHarness();
  const address = await harness.startApi();
  const { organization, headers } = await buildOrganization(harness);
  const browser = await launchBrowser();
  const server = createServer((_request, response) => {
    response.setHeader('Content-Type', 'text/html');
    response.end(hostHtml(address));
  });
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const hostOrigin = `http://localhost:${(server.address() as AddressInfo).port}`;

  return {
    harness,
    address,
    hostOrigin,
    organization,
    browser,
    async progressOf({ lessonId }, learnerId = 'learner-1') {
      const answer = await ask(`${address}/api/public/lessons/${lessonId}/progress/${learnerId}`, {
        headers,
      });
      return answer.status === 404 ? null : (jsonOf(answer) as Progress);
    },
    async open(lesson, { context, token = buildLearnerToken(lesson), more = '' } = {}) {
      const page = await (context ?? (await browser.newContext())).newPage();
      await page.goto(`${hostOrigin}/`);
      const opened = hostPage(page);
      await opened.mount(`lessonId: '${lesson.lessonId}', ${token && `token: '${token}',`} ${more}`);
      return opened;
    },
    async close() {
      await browser.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await harness.close();
    },
  };
}

export function hostPage(page: Page): HostPage {
  const outer = page.frameLocator('#course iframe');
  const events = () => page.evaluate<HostEvent[]>('events');
  const onEvent = 'onEvent: (event) => events.push(event)';
  return {
    page,
    outer,
    lesson: outer.frameLocator('iframe'),
    async mount(options) {
      await page.evaluate(
        `embed = LecternEmbed.mount(document.getElementById('course'), { ${onEvent}, ${options} })`,
      );
    },
    events,
    async event(type) {
      await page.waitForFunction(`events.some(({ type }) => type === '${type}')`);
      const found = (await events()).findLast((event) => event.type === type);
      if (found === undefined) throw new Error(`no event ${type}`);
      return found;
    },
  };
}

/** Waits until a step with this id is shown; test lessons have the id in the title. */
export async function seeStep({ lesson }: Pick<HostPage, 'lesson'>, stepId: string): Promise<void> {
  await lesson.getByRole('heading', { name: `Title of ${stepId}`, exact: true }).waitFor();
}

export async function press({ lesson }: Pick<HostPage, 'lesson'>, name: string): Promise<void> {
  await lesson.getByRole('button', { name, exact: true }).click();
}

/** Answers the question of the current step. */
export async function choose(page: Pick<HostPage, 'lesson'>, choice: string): Promise<void> {
  await page.lesson.getByRole('radio', { name: choice, exact: true }).check();
  await press(page, 'Check answer');
}

/** Returns the frame with Lectern's page; undefined before it has loaded. */
export function outerFrame(page: Page): Frame | undefined {
  return page.frames().find((frame) => frame.url().includes('/embed/'));
}

/** Waits until the browser has stored an answer; after that, closing the page loses nothing. */
export async function seeKept({ page }: HostPage, widgetId: string): Promise<void> {
  await waitFor('the answer in the browser', async () =>
    (await outerFrame(page)?.evaluate<string>('JSON.stringify(localStorage)'))?.includes(widgetId),
  );
}

/** Waits until a choice is shown as selected; its accessible name then includes its feedback. */
export async function seeChosen({ lesson }: Pick<HostPage, 'lesson'>, choice: string): Promise<void> {
  await lesson.getByRole('radio', { name: new RegExp(`^${choice}\\b`), checked: true }).waitFor();
}

/** Returns the answers in a record by widget id. */
export function answersIn(progress: Progress | null): Record<string, unknown> {
  return Object.fromEntries((progress?.items ?? []).map(({ widgetId, answer }) => [widgetId, answer]));
}
