import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { basename, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { contentType } from 'mime-types';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { beforeEach, expect } from 'vitest';
import { closeContexts, sharedBrowser } from '../support/browser.ts';
import { listen } from '../support/serve.ts';
import { useStarted } from '../support/use.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const dist = join(root, 'player', 'dist');
const demo = join(root, 'demo', 'lesson');

export type WidgetPage = Awaited<ReturnType<typeof openWidgets>>;

/** The options of `mountLesson` that can be sent to the browser. */
interface StartOptions {
  lesson?: unknown;
  base?: string;
  versionId?: string;
  state?: unknown;
  startAt?: string;
  startAtBlock?: string;
  cover?: boolean;
  language?: string;
  widgetTimeout?: number;
  sendsGrade?: boolean;
  canPresent?: boolean;
}

interface StartExtras {
  /** Sources of modules by widget type. */
  widgets?: Record<string, string>;
  /** Names of the callbacks that throw. */
  throwing?: string[];
  /** Names of further callbacks. */
  callbacks?: string[];
}

/** A callback's name and its argument. */
type Call = [name: string, event: Record<string, unknown>];

/** A block in the tests' notation, which may be invalid on purpose. */
export interface SampleBlock {
  type?: string;
  props?: unknown;
}

/** A report of a widget through its context. */
interface Report {
  id?: string;
  value: unknown;
  result?: { score: number; maxScore: number };
}

interface ShowOptions {
  language?: string;
  /** Saved answers by block id. */
  states?: Record<string, unknown>;
  /** Numbers of earlier answers by block id. */
  tries?: Record<string, number>;
}

/** Starts a browser and a server on loopback with the built player and widgets, the demo lesson, and files of the test. */
export function usePlayerLab() {
  return useStarted(startLab, (lab) => lab.close());
}

/** Starts a lab with a page for lessons, which all tests use. An uncaught error fails the test. */
export function useLessonPage(options?: BrowserContextOptions) {
  const lab = usePlayerLab();
  const view = useStarted(
    () => lab.openLesson(options),
    (opened) => opened.close(),
  );
  beforeEach(({ onTestFinished }) => {
    onTestFinished(() => expect(view.errors.splice(0)).toEqual([]));
  });
  const page = useStarted(() => Promise.resolve(view.page));
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  return {
    ...{ lab, view, page, button },
    click: (name: string) => button(name).click(),
    heading: () => page.getByRole('heading', { level: 1 }).textContent(),
    /** The text of the element that has the focus. */
    focused: () => page.evaluate('document.activeElement.textContent'),
  };
}

/** Starts a lab with a page for widgets, which all tests use. A widget that throws fails the test. */
export function useWidgetPage() {
  const lab = usePlayerLab();
  const view = useStarted(
    () => lab.openWidgets(),
    (opened) => opened.close(),
  );
  beforeEach(({ onTestFinished }) => {
    onTestFinished(async () => expect(await view.failures()).toEqual([]));
  });
  return { lab, view, page: useStarted(() => Promise.resolve(view.page)) };
}

/** Presses a key in a field as browsers do while an input method is open; WebKit ends the composition before it. */
export async function pressWhileComposing(field: Locator, key: string): Promise<void> {
  for (const browser of [{ isComposing: true }, { keyCode: 229 }]) {
    await field.dispatchEvent('keydown', { key, cancelable: true, ...browser });
  }
}

async function startLab() {
  /** Files by path, as in `/archive/lesson.json`; null for one that never responds. */
  const files = new Map<string, string | null>();
  const media = await demoMedia();

  async function read(path: string): Promise<{ body: Buffer | string; type?: string } | undefined> {
    const given = files.get(path);
    if (typeof given === 'string') return { body: given };
    const medium = media.get(basename(path).replace(/\.\w+$/, ''));
    if (medium) return { body: await readFile(join(demo, medium.localPath)), type: medium.mimeType };
    const folder = path.endsWith('.html') ? import.meta.dirname : dist;
    return readFile(join(folder, normalize(path))).then(
      (body) => ({ body }),
      () => undefined,
    );
  }

  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (files.get(pathname) === null) return;
    void read(pathname).then((file) => {
      // As on the real server, files for widgets allow the sandboxed frame with its opaque origin.
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.statusCode = file ? 200 : 404;
      response.setHeader('Content-Type', file?.type ?? (contentType(extname(pathname)) || 'text/plain'));
      response.end(file?.body);
    });
  });
  const browser = await sharedBrowser();
  const { origin, close } = await listen(server);
  return {
    origin,
    files,
    /** Opens a page of an integrator that mounts lessons. */
    openLesson: (options?: BrowserContextOptions) => openLesson(browser, origin, options),
    /** Opens a page that mounts widgets by themselves. */
    openWidgets: (options?: BrowserContextOptions) => openWidgets(browser, origin, options),
    close: async () => {
      await closeContexts(browser);
      await close();
    },
  };
}

/** Opens a page with widgets in a sandboxed frame of a page, as in the player; returns the frame. */
export async function openInFrame(page: Page, style: string) {
  await page.evaluate(`new Promise((done) => {
    const frame = document.createElement('iframe');
    frame.sandbox = 'allow-scripts';
    frame.style.cssText = '${style}';
    frame.onload = done;
    frame.src = '/widgets.html';
    document.body.append(frame);
  })`);
  const frame = page.frames().find((candidate) => candidate.parentFrame());
  if (!frame) throw new Error('the frame did not load');
  await frame.waitForFunction('window.ready');
  return frame;
}

async function openPage(browser: Browser, origin: string, path: string, options?: BrowserContextOptions) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  /** Uncaught errors of the page. */
  const errors: string[] = [];
  /** URLs that the page has requested, as paths where they are the server's. */
  const requests: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('request', (request) => requests.push(request.url().replace(origin, '')));
  await page.goto(origin + path);
  await page.waitForFunction('window.ready');
  return { page, errors, requests, close: () => context.close() };
}

async function openLesson(browser: Browser, origin: string, options?: BrowserContextOptions) {
  const opened = await openPage(browser, origin, '/lesson.html', options);
  const { page } = opened;

  /** Returns all calls, or the arguments of one callback. */
  async function calls(): Promise<Call[]>;
  async function calls(name: string): Promise<Record<string, unknown>[]>;
  async function calls(name?: string): Promise<unknown[]> {
    const all = await page.evaluate<Call[]>('window.events');
    return name === undefined ? all : all.filter(([called]) => called === name).map(([, event]) => event);
  }

  return {
    ...opened,
    calls,
    /** Mounts a lesson in place of the previous one, and waits until it is ready. */
    start: async (given: StartOptions, { widgets = {}, throwing = [], callbacks = [] }: StartExtras = {}) => {
      const sent = [given, widgets, throwing, callbacks].map((value) => JSON.stringify(value));
      await page.evaluate(`start(${sent.join()})`);
      await page.waitForFunction('window.events.length > 0');
    },
  };
}

async function openWidgets(browser: Browser, origin: string, options?: BrowserContextOptions) {
  const opened = await openPage(browser, origin, '/widgets.html', options);
  const { page, errors } = opened;
  return {
    ...opened,
    /** Mounts blocks in place of the previous ones. */
    show: (blocks: SampleBlock[], shown: ShowOptions = {}): Promise<void> =>
      page.evaluate(`show(${JSON.stringify(blocks)}, ${JSON.stringify(shown)})`),
    reports: () => page.evaluate<Report[]>('window.reports'),
    /** Exceptions from widgets and uncaught errors of the page. */
    failures: async () => [...(await page.evaluate<string[]>('window.failures')), ...errors],
  };
}

async function demoMedia(): Promise<Map<string, { localPath: string; mimeType: string }>> {
  const { files } = JSON.parse(await readFile(join(demo, 'manifest.json'), 'utf8')) as {
    files: { media: { id: string; localPath: string; mimeType: string }[] };
  };
  return new Map(files.media.map((medium) => [medium.id, medium]));
}
