import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join, normalize } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, inject } from 'vitest';
import type { LessonVersion } from '../../../shared/models/lesson-version.ts';
import { takeApart } from '../../exports/exports.ts';
import type { Export } from '../../exports/exports.ts';
import { launchBrowser } from '../../support/browser.ts';
import { buildOrganization, exportPath } from '../../support/factories.ts';
import { startHarness } from '../../support/harness.ts';
import type { Harness } from '../../support/harness.ts';

/** Ways in which an integrator may serve an archive. */
export const ways = ['a plain web server', 'the unpacked folder'] as const;
export type Way = (typeof ways)[number];

/** An unpacked archive with the player. */
export interface Unpacked extends Export {
  /** The folder that contains index.html. */
  path: string;
  addresses: Record<Way, string>;
}

/** An event from index.html: the name of the callback and its argument. */
export interface Told {
  name: string;
  event: Record<string, unknown>;
}

/** A page that shows the lesson. */
export interface OpenLesson {
  page: Page;
  /** Returns the callbacks' arguments in order. */
  told: () => Promise<Told[]>;
  /** Page errors, failed requests, and requests outside the archive. */
  problems: string[];
}

/** Fills in callbacks.js as an integrator does. */
const recording = `
window.told = [];
const record = (name) => (event) => window.told.push({ name, event: structuredClone(event) });
window.lectern = { onReady: record('onReady'), onStepChange: record('onStepChange'),
  onAnswer: record('onAnswer'), onComplete: record('onComplete'), onError: record('onError') };
`;

export class ArchiveLab {
  harness!: Harness;
  organization!: Awaited<ReturnType<typeof buildOrganization>>['organization'];
  #headers!: { authorization: string };
  #api!: string;
  #browser!: Browser;
  readonly #closing: (() => Promise<unknown>)[] = [];

  async start(): Promise<void> {
    this.harness = await startHarness();
    this.#api = await this.harness.startApi();
    await this.harness.startWorker();
    ({ organization: this.organization, headers: this.#headers } = await buildOrganization(this.harness));
    this.#browser = await launchBrowser();
  }

  async close(): Promise<void> {
    await this.#browser.close();
    for (const close of this.#closing) await close();
    await this.harness.close();
  }

  /**
   * Downloads a version's archive with the player, unpacks it and serves it from a server of its
   * own.
   */
  async unpack(version: LessonVersion): Promise<Unpacked> {
    const url = `${this.#api}${exportPath(version)}?include=player`;
    const response = await fetch(url, { headers: this.#headers });
    if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
    const archive = await takeApart(Buffer.from(await response.arrayBuffer()));
    const path = join(await mkdtemp(join(inject('runDir'), 'archive-')), archive.folder);
    for (const [name, bytes] of archive.files) {
      await mkdir(dirname(join(path, name)), { recursive: true });
      await writeFile(join(path, name), bytes);
    }
    await writeFile(join(path, 'player', 'callbacks.js'), recording);
    const [onServer, inFolder] = ways;
    const addresses = {
      [onServer]: `${await this.serve(path)}/index.html`,
      [inFolder]: pathToFileURL(join(path, 'index.html')).href,
    } as Record<Way, string>;
    return { ...archive, path, addresses };
  }

  /** Starts a static file server and returns its origin. */
  async serve(folder: string): Promise<string> {
    const server = createServer((request, response) => {
      const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname);
      const type = contentTypes[path.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
      readFile(join(folder, path)).then(
        (bytes) => response.setHeader('Content-Type', type).end(bytes),
        () => response.writeHead(404).end(),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#closing.push(() => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  newContext(options?: BrowserContextOptions): Promise<BrowserContext> {
    return this.#browser.newContext(options);
  }

  /** Opens a URL in a new context, or in an existing one. */
  async open(address: string, context?: BrowserContext): Promise<OpenLesson> {
    const page = await (context ?? (await this.newContext())).newPage();
    const problems: string[] = [];
    const home = new URL('.', address).href;
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') problems.push(message.text());
    });
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(home) && !/^(blob|data):/.test(url)) problems.push(`asked for ${url}`);
    });
    page.on('requestfailed', (request) => {
      // Leaving a step aborts the loading of its video.
      if (request.failure()?.errorText === 'net::ERR_ABORTED' && request.resourceType() === 'media') return;
      problems.push(`could not load ${request.url()}`);
    });
    await page.goto(address);
    return { page, problems, told: () => page.evaluate<Told[]>('window.told') };
  }
}

const contentTypes: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript',
  css: 'text/css',
  json: 'application/json',
  svg: 'image/svg+xml',
  png: 'image/png',
  jpg: 'image/jpeg',
  mp3: 'audio/mpeg',
  webm: 'video/webm',
  vtt: 'text/vtt',
};

/** Creates a lab for the tests of a file. */
export function useArchiveLab(): ArchiveLab {
  const lab = new ArchiveLab();
  beforeAll(() => lab.start());
  afterAll(() => lab.close());
  return lab;
}
