import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { buildWidgets } from '../../player/build.ts';
import { launchBrowser } from '../support/browser.ts';

const demoFolder = fileURLToPath(new URL('../../demo/lesson/', import.meta.url));
const harness = fileURLToPath(new URL('./harness.html', import.meta.url));

/** A block in the tests' notation, which may be invalid on purpose. */
export interface SampleBlock {
  type: string;
  props?: unknown;
}

/** A report of a widget through its context. */
export interface Report {
  id?: string;
  value: unknown;
  result?: { score: number; maxScore: number };
}

/** Options for showing blocks. */
export interface ShowOptions {
  language?: string;
  /** Saved answers by block id. */
  states?: Record<string, unknown>;
  /** Numbers of earlier answers by block id. */
  tries?: Record<string, number>;
}

/** A page of the harness, with the calls that tests make on it. */
export interface WidgetPage {
  page: Page;
  /** Mounts blocks in place of the previous ones. */
  show(blocks: SampleBlock[], options?: ShowOptions): Promise<void>;
  reports(): Promise<Report[]>;
  /** Exceptions from widgets, uncaught errors and console errors of the page. */
  failures(): Promise<string[]>;
  /** Paths that the page has requested since it was opened. */
  requests: string[];
}

/**
 * A browser, and a server on loopback with freshly built widgets, the harness, and the demo's
 * media.
 */
export interface WidgetLab {
  origin: string;
  open(options?: BrowserContextOptions): Promise<WidgetPage>;
  close(): Promise<void>;
}

const contentTypes: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };

export async function startWidgetLab(): Promise<WidgetLab> {
  const built = await mkdtemp(join(tmpdir(), 'lectern-widgets-'));
  await buildWidgets(built);
  const media = await demoMedia();

  async function fileAt(path: string): Promise<{ body: Buffer; type: string } | undefined> {
    const medium = media.get(basename(path).replace(/\.\w+$/, ''));
    if (medium) return { body: await readFile(medium.path), type: medium.type };
    const file = path === '/' ? harness : join(built, basename(path));
    const type = contentTypes[file.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
    return readFile(file).then(
      (body) => ({ body, type }),
      () => undefined,
    );
  }

  const server = createServer((request, response) => {
    void fileAt(new URL(request.url ?? '/', 'http://localhost').pathname).then((file) => {
      // As on the real server, files for widgets allow the sandboxed frame with its opaque origin.
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.statusCode = file ? 200 : 404;
      if (file) response.setHeader('Content-Type', file.type);
      response.end(file?.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  let browser: Browser;
  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await rm(built, { recursive: true, force: true });
  }
  try {
    browser = await launchBrowser();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    origin,
    open: (options) => openPage(browser, origin, options),
    async close() {
      await browser.close();
      await close();
    },
  };
}

async function openPage(
  browser: Browser,
  origin: string,
  options?: BrowserContextOptions,
): Promise<WidgetPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const problems: string[] = [];
  const requests: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => requests.push(request.url().replace(origin, '')));
  await page.goto(`${origin}/`);
  await page.waitForFunction('window.ready');
  return {
    page,
    requests,
    show: (blocks, shown = {}) => page.evaluate(`show(${JSON.stringify(blocks)}, ${JSON.stringify(shown)})`),
    reports: () => page.evaluate('window.reports'),
    async failures() {
      return [...(await page.evaluate<string[]>('window.failures')), ...problems];
    },
  };
}

async function demoMedia(): Promise<Map<string, { path: string; type: string }>> {
  const { files } = JSON.parse(await readFile(join(demoFolder, 'manifest.json'), 'utf8')) as {
    files: { media: { id: string; localPath: string; mimeType: string }[] };
  };
  return new Map(
    files.media.map(({ id, localPath, mimeType }) => [
      id,
      { path: join(demoFolder, localPath), type: mimeType },
    ]),
  );
}

/** Returns a step of the demo lesson. */
export interface DemoStep {
  title: string;
  content: { content: SampleBlock[] };
}

/** The steps of the demo lesson, in order. */
export async function demoSteps(): Promise<DemoStep[]> {
  const lesson = JSON.parse(await readFile(join(demoFolder, 'lesson.json'), 'utf8')) as {
    sections: { steps: DemoStep[] }[];
  };
  return lesson.sections.flatMap(({ steps }) => steps);
}
