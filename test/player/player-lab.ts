import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { beforeEach, expect } from 'vitest';
import { closeContexts, sharedBrowser } from '../support/browser.ts';
import { useStarted } from '../support/use.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const dist = join(root, 'player', 'dist');
const demo = join(root, 'demo', 'lesson');

const contentTypes: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

/** A browser, and a server on loopback with the built player and widgets, the demo lesson, and files of the test. */
export interface PlayerLab {
  origin: string;
  /** Files by path, as in `/archive/lesson.json`; null for one that never responds. */
  files: Map<string, string | null>;
  /** Opens a page of an integrator that mounts lessons. */
  openLesson(options?: BrowserContextOptions): Promise<LessonPage>;
  /** Opens a page that mounts widgets by themselves. */
  openWidgets(options?: BrowserContextOptions): Promise<WidgetPage>;
  close(): Promise<void>;
}

interface TestPage {
  page: Page;
  /** URLs that the page has requested, as paths where they are the server's. */
  requests: string[];
  close(): Promise<void>;
}

/** The options of `mountLesson` that can be sent to the browser. */
interface StartOptions {
  lesson?: unknown;
  base?: string;
  versionId?: string;
  state?: unknown;
  startAt?: string;
  cover?: boolean;
  language?: string;
  widgetTimeout?: number;
  sendsGrade?: boolean;
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

export interface LessonPage extends TestPage {
  /** Mounts a lesson in place of the previous one, and waits until it is ready. */
  start(this: void, options: StartOptions, extras?: StartExtras): Promise<void>;
  /** Returns all calls, or the arguments of one callback. */
  calls(): Promise<Call[]>;
  calls(name: string): Promise<Record<string, unknown>[]>;
  /** Uncaught errors of the page. */
  errors: string[];
}

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

export interface WidgetPage extends TestPage {
  /** Mounts blocks in place of the previous ones. */
  show(blocks: SampleBlock[], options?: ShowOptions): Promise<void>;
  reports(): Promise<Report[]>;
  /** Exceptions from widgets and uncaught errors of the page. */
  failures(): Promise<string[]>;
}

/** Starts a lab for the file. */
export function usePlayerLab(): PlayerLab {
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
  return { lab, view, page: usePage(view) };
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
  return { lab, view, page: usePage(view) };
}

function usePage(view: TestPage): Page {
  return useStarted(
    () => Promise.resolve(view.page),
    () => Promise.resolve(),
  );
}

async function startLab(): Promise<PlayerLab> {
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
      response.setHeader('Content-Type', file?.type ?? contentTypes[extname(pathname)] ?? 'text/plain');
      response.end(file?.body);
    });
  });
  const browser = await sharedBrowser();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    files,
    openLesson: (options) => openLesson(browser, origin, options),
    openWidgets: (options) => openWidgets(browser, origin, options),
    async close() {
      await closeContexts(browser);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function openPage(browser: Browser, origin: string, path: string, options?: BrowserContextOptions) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const errors: string[] = [];
  const requests: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('request', (request) => requests.push(request.url().replace(origin, '')));
  await page.goto(origin + path);
  await page.waitForFunction('window.ready');
  return { page, errors, requests, close: () => context.close() };
}

async function openLesson(
  browser: Browser,
  origin: string,
  options?: BrowserContextOptions,
): Promise<LessonPage> {
  const opened = await openPage(browser, origin, '/lesson.html', options);
  const { page } = opened;

  async function calls(): Promise<Call[]>;
  async function calls(name: string): Promise<Record<string, unknown>[]>;
  async function calls(name?: string): Promise<unknown[]> {
    const all = await page.evaluate<Call[]>('window.events');
    return name === undefined ? all : all.filter(([called]) => called === name).map(([, event]) => event);
  }

  return {
    ...opened,
    calls,
    async start(given, { widgets = {}, throwing = [], callbacks = [] } = {}) {
      await page.evaluate(
        `start(${[given, widgets, throwing, callbacks].map((value) => JSON.stringify(value)).join()})`,
      );
      await page.waitForFunction('window.events.length > 0');
    },
  };
}

async function openWidgets(
  browser: Browser,
  origin: string,
  options?: BrowserContextOptions,
): Promise<WidgetPage> {
  const opened = await openPage(browser, origin, '/widgets.html', options);
  const { page, errors } = opened;
  return {
    ...opened,
    show: (blocks, shown = {}) => page.evaluate(`show(${JSON.stringify(blocks)}, ${JSON.stringify(shown)})`),
    reports: () => page.evaluate('window.reports'),
    failures: async () => [...(await page.evaluate<string[]>('window.failures')), ...errors],
  };
}

async function demoMedia(): Promise<Map<string, { localPath: string; mimeType: string }>> {
  const { files } = JSON.parse(await readFile(join(demo, 'manifest.json'), 'utf8')) as {
    files: { media: { id: string; localPath: string; mimeType: string }[] };
  };
  return new Map(files.media.map((medium) => [medium.id, medium]));
}
