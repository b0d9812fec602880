import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { bookStepTitle } from '../book.ts';

/** What a page of the book needs and holds. */
export interface BookPage {
  /** Bytes that the browser received before the first step was shown, with headers, without pictures. */
  bytes: number;
}

/** The page's memory and nodes at a moment, over all of its frames, after a garbage collection. */
export interface PageSize {
  heapMegabytes: number;
  nodes: number;
}

const picture = /\/(media|assets)\//;

/** Returns the bytes that a browser with an empty cache receives for a page until it shows a step. */
export async function bytesBeforeStep(browser: Browser, url: string, title: string): Promise<number> {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    const urls = new Map<string, string>();
    let bytes = 0;
    session.on('Network.responseReceived', ({ requestId, response }) => urls.set(requestId, response.url));
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (!picture.test(urls.get(requestId) ?? '')) bytes += encodedDataLength;
    });
    await page.goto(url);
    await stepShown(page, title);
    return bytes;
  } finally {
    await context.close();
  }
}

/**
 * Opens the book and goes through all of its steps with the Next button.
 *
 * @param every the number of steps between two measurements
 */
export async function walk(
  browser: Browser,
  url: string,
  { steps, every }: { steps: number; every: number },
): Promise<{ sizes: (PageSize & { step: number })[]; requests: number; seconds: number }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    let requests = 0;
    page.on('request', (request) => (requests += /\/chunks\//.test(request.url()) ? 1 : 0));
    const session = await context.newCDPSession(page);
    const started = performance.now();
    await page.goto(url);
    const sizes: (PageSize & { step: number })[] = [];
    for (let index = 0; index < steps; index += 1) {
      await stepShown(page, bookStepTitle(index));
      if (index % every === 0 || index === steps - 1)
        sizes.push({ step: index + 1, ...(await sizeOf(session)) });
      if (index < steps - 1) await lessonOf(page).getByRole('button', { name: 'Next', exact: true }).click();
    }
    return { sizes, requests, seconds: (performance.now() - started) / 1000 };
  } finally {
    await context.close();
  }
}

const lessonOf = (page: Page) => page.frameLocator('iframe');

async function stepShown(page: Page, title: string): Promise<void> {
  await lessonOf(page).getByRole('heading', { name: title, exact: true }).waitFor();
  await lessonOf(page).locator('.lectern-step-body p').first().waitFor();
}

async function sizeOf(session: CDPSession): Promise<PageSize> {
  await session.send('HeapProfiler.collectGarbage');
  await session.send('Performance.enable');
  const { metrics } = await session.send('Performance.getMetrics');
  const value = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? NaN;
  return { heapMegabytes: value('JSHeapUsedSize') / 1024 ** 2, nodes: value('Nodes') };
}

/** Prints the sizes, and writes them for a later comparison. */
export async function reportWalk(
  folder: string,
  { sizes, requests, seconds }: Awaited<ReturnType<typeof walk>>,
): Promise<void> {
  console.log(`\nWalking through the book: ${requests} chunks requested, ${seconds.toFixed(0)} s`);
  for (const { step, heapMegabytes, nodes } of sizes) {
    console.log(
      `  step ${String(step).padStart(4)}  ${heapMegabytes.toFixed(1).padStart(6)} MB  ${nodes} nodes`,
    );
  }
  await writeFile(join(folder, 'walk.json'), JSON.stringify(sizes));
}
