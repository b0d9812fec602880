import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { buildPlayer } from '../../player/build.ts';
import { launchBrowser } from '../support/browser.ts';

const page = fileURLToPath(new URL('./lesson.html', import.meta.url));
const demo = fileURLToPath(new URL('../../demo/lesson/', import.meta.url));

const contentTypes: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
};

/** The options of `mountLesson` that can be sent to the browser. */
export interface StartOptions {
  lesson?: unknown;
  base?: string;
  versionId?: string;
  state?: unknown;
  startAt?: string;
  language?: string;
  widgetTimeout?: number;
}

export interface StartExtras {
  /** Sources of modules by widget type. */
  widgets?: Record<string, string>;
  /** Names of the callbacks that throw. */
  throwing?: string[];
}

/** A call: the callback's name and its argument. */
export type Call = [name: string, event: Record<string, unknown>];

/** A page that shows a lesson. */
export interface LessonPage {
  page: Page;
  /** Mounts a lesson in place of the previous one, and waits until it is ready. */
  start(options: StartOptions, extras?: StartExtras): Promise<void>;
  /** Returns all calls, or the arguments of one callback. */
  calls(): Promise<Call[]>;
  calls(name: string): Promise<Record<string, unknown>[]>;
  /** Uncaught errors of the page. */
  errors: string[];
  /** URLs that the page requested from the server. */
  requests: string[];
}

/**
 * A browser, and a server on loopback with the player, the demo lesson at `/demo/`, and files of
 * the test.
 */
export interface LessonLab {
  origin: string;
  /** Files by path, as in `/archive/lesson.json`; null for one that never responds. */
  files: Map<string, string | null>;
  open(options?: BrowserContextOptions): Promise<LessonPage>;
}

/**
 * Opens a browser for the tests of one file and closes it afterwards. Call it at the top of the
 * file.
 */
export function useLessonLab(): LessonLab {
  const files = new Map<string, string | null>();
  let browser: Browser;
  let built: string;
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (files.get(pathname) === null) return;
    void read(pathname).then((body) => {
      response.statusCode = body === undefined ? 404 : 200;
      response.setHeader('Content-Type', contentTypes[extname(pathname)] ?? 'text/html');
      response.end(body);
    });
  });

  async function read(path: string): Promise<string | Buffer | undefined> {
    const given = files.get(path);
    if (typeof given === 'string') return given;
    const [, root = '', ...rest] = normalize(path).split('/');
    const folder = { player: built, demo }[root];
    const file = root === '' ? page : folder && join(folder, ...rest);
    return file === undefined ? undefined : readFile(file).catch(() => undefined);
  }

  const lab: LessonLab = {
    origin: '',
    files,
    async open(options) {
      const context = await browser.newContext(options);
      return openPage(await context.newPage(), lab.origin);
    },
  };

  beforeAll(async () => {
    built = await mkdtemp(join(tmpdir(), 'lectern-player-'));
    await buildPlayer(built);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    lab.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(built, { recursive: true, force: true });
  });
  return lab;
}

async function openPage(opened: Page, origin: string): Promise<LessonPage> {
  const errors: string[] = [];
  const requests: string[] = [];
  opened.on('pageerror', (error) => errors.push(error.message));
  opened.on('request', (request) => requests.push(request.url().replace(origin, '')));
  await opened.goto(`${origin}/`);
  await opened.waitForFunction('window.ready');

  async function calls(): Promise<Call[]>;
  async function calls(name: string): Promise<Record<string, unknown>[]>;
  async function calls(name?: string): Promise<unknown[]> {
    const all = await opened.evaluate<Call[]>('window.events');
    return name === undefined ? all : all.filter(([called]) => called === name).map(([, event]) => event);
  }

  return {
    page: opened,
    errors,
    requests,
    calls,
    async start(options, { widgets = {}, throwing = [] } = {}) {
      const given = [options, widgets, throwing].map((value) => JSON.stringify(value)).join(', ');
      await opened.evaluate(`start(${given})`);
      await opened.waitForFunction('window.events.length > 0');
    },
  };
}
