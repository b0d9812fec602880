import type { Browser, CDPSession, Page } from 'playwright-core';
import { bookStepTitle } from './book.ts';

/** The size of a page with all of its frames at a step, after a garbage collection. */
export interface PageSize {
  step: number;
  heapMegabytes: number;
  nodes: number;
}

const pictures = /\/(media|assets)\//;
const chunks = /\/chunks\//;

/** Returns the bytes that a browser with an empty cache receives for a page until it shows a step; without pictures. */
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
      if (!pictures.test(urls.get(requestId) ?? '')) bytes += encodedDataLength;
    });
    await page.goto(url);
    await seeStep(page, title);
    return bytes;
  } finally {
    await context.close();
  }
}

/**
 * Opens the book and goes through its steps with the Next button.
 *
 * @param options.interval the number of steps between two measurements
 */
export async function walk(
  browser: Browser,
  url: string,
  { steps, interval }: { steps: number; interval: number },
): Promise<{ sizes: PageSize[]; requests: number }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    let requests = 0;
    page.on('request', (request) => (requests += chunks.test(request.url()) ? 1 : 0));
    const session = await context.newCDPSession(page);
    await session.send('Performance.enable');
    await page.goto(url);
    const sizes: PageSize[] = [];
    for (let index = 0; index < steps; index += 1) {
      await seeStep(page, bookStepTitle(index));
      const isLast = index === steps - 1;
      if (index % interval === 0 || isLast) sizes.push(await sizeAt(session, index + 1));
      if (!isLast) await lessonOf(page).getByRole('button', { name: 'Next', exact: true }).click();
    }
    return { sizes, requests };
  } finally {
    await context.close();
  }
}

const lessonOf = (page: Page) => page.frameLocator('iframe');

async function seeStep(page: Page, title: string): Promise<void> {
  await lessonOf(page).getByRole('heading', { name: title, exact: true }).waitFor();
  await lessonOf(page).locator('.lectern-step-body p').first().waitFor();
}

async function sizeAt(session: CDPSession, step: number): Promise<PageSize> {
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const value = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? NaN;
  return { step, heapMegabytes: value('JSHeapUsedSize') / 1e6, nodes: value('Nodes') };
}
