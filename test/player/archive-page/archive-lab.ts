import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';
import { contentType } from 'mime-types';
import type { BrowserContext } from 'playwright-core';
import { afterAll, afterEach, inject } from 'vitest';
import type { LessonVersion } from '../../../shared/models/lesson-version.ts';
import { takeApart } from '../../exports/exports.ts';
import type { Export } from '../../exports/exports.ts';
import { exportPath } from '../../support/factories.ts';
import { closeContexts } from '../../support/browser.ts';
import { listen } from '../../support/serve.ts';
import { useApi, useBrowser } from '../../support/use.ts';

/** Ways in which an integrator may serve an archive. */
export const ways = ['a plain web server', 'the unpacked folder'] as const;
export type Way = (typeof ways)[number];

/** An unpacked archive with the player. */
export interface Unpacked extends Export {
  /** The folder that contains index.html. */
  path: string;
  urls: Record<Way, string>;
}

/** An event from index.html: the name of the callback and its argument. */
export interface CallbackEvent {
  name: string;
  event: Record<string, unknown>;
}

/** Fills in callbacks.js as an integrator does. */
const recording = `
window.events = [];
const record = (name) => (event) => window.events.push({ name, event: structuredClone(event) });
window.lectern = { onReady: record('onReady'), onStepChange: record('onStepChange'),
  onAnswer: record('onAnswer'), onComplete: record('onComplete'), onError: record('onError') };
`;

/** Starts a Lectern with a worker and a browser for a file, and closes what a test has opened in the browser after it. */
export function useArchiveLab(settings: Parameters<typeof useApi>[0] = {}) {
  const api = useApi(settings, { worker: true });
  const browser = useBrowser();
  const closing: (() => Promise<unknown>)[] = [];
  afterAll(() => Promise.all(closing.map((close) => close())));
  afterEach(() => closeContexts(browser));

  /** Serves the files in a folder and returns the server's origin. */
  async function serve(folder: string): Promise<string> {
    const server = createServer((request, response) => {
      const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname);
      response.setHeader('Content-Type', contentType(path.split('.').at(-1) ?? '') || 'text/plain');
      readFile(join(folder, path)).then(
        (bytes) => response.end(bytes),
        () => response.writeHead(404).end(),
      );
    });
    const { origin, close } = await listen(server);
    closing.push(close);
    return origin;
  }

  return {
    api,
    browser,
    serve,
    /** Downloads a version's archive with the player, unpacks it and serves it. */
    async unpack(version: LessonVersion): Promise<Unpacked> {
      const { url, headers } = api;
      const response = await fetch(`${url}${exportPath(version)}?include=player`, { headers });
      if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
      const archive = await takeApart(Buffer.from(await response.arrayBuffer()));
      const path = join(await mkdtemp(join(inject('runDir'), 'archive-')), archive.folder);
      for (const [name, bytes] of archive.files) {
        await mkdir(dirname(join(path, name)), { recursive: true });
        await writeFile(join(path, name), bytes);
      }
      await writeFile(join(path, 'player', 'callbacks.js'), recording);
      const [onServer, inFolder] = ways;
      const urls = {
        [onServer]: `${await serve(path)}/index.html`,
        [inFolder]: pathToFileURL(join(path, 'index.html')).href,
      } as Record<Way, string>;
      return { ...archive, path, urls };
    },
    /** Opens a URL in a new context, or in an existing one. */
    async open(url: string, context?: BrowserContext) {
      const page = await (context ?? (await browser.newContext())).newPage();
      /** Page errors, failed requests, and requests outside the archive. */
      const problems: string[] = [];
      const home = new URL('.', url).href;
      page.on('pageerror', (error) => problems.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error') problems.push(message.text());
      });
      page.on('request', (request) => {
        const requested = request.url();
        if (!requested.startsWith(home) && !/^(blob|data):/.test(requested))
          problems.push(`requested ${requested}`);
      });
      page.on('requestfailed', (request) => {
        // Leaving a step aborts the loading of its video.
        const isLeft = request.failure()?.errorText === 'net::ERR_ABORTED';
        if (!isLeft || request.resourceType() !== 'media') problems.push(`could not load ${request.url()}`);
      });
      await page.goto(url);
      /** Returns the callbacks' arguments in order. */
      const events = () => page.evaluate<CallbackEvent[]>('window.events');
      return { page, problems, events };
    },
  };
}
