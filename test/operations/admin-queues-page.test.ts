import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { hang, startOrigin } from '../support/origin.ts';
import type { Origin } from '../support/origin.ts';
import { useBrowser } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask } from '../support/answers.ts';
import { openQueue } from '../exports/open-queue.ts';
import type { OpenQueue } from '../exports/open-queue.ts';

const login = { username: 'operator', password: 'an operator has one' };

const browser = useBrowser();
let harness: Harness;
let queue: OpenQueue;
let origin: Origin;
let address: string;
/** Cancels the requests whose exports are still running. */
const leaving = new AbortController();
const asking: Promise<unknown>[] = [];

/** A queue with a job in each state: one is completed, one failed, one downloads forever, one waits. */
beforeAll(async () => {
  origin = await startOrigin();
  origin.script('/slow.png', hang());
  harness = await startHarness({
    ADMIN_USERNAME: login.username,
    ADMIN_PASSWORD: login.password,
    LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host,
    WORKER_CONCURRENCY: '1',
    SHUTDOWN_SECONDS: '5',
  });
  queue = await openQueue(harness);
  address = await harness.startApi();
  await harness.startWorker();
  const { organization, headers } = await buildOrganization(harness);
  const build = async (slug: string, sourceUrl?: string) => {
    const media = sourceUrl === undefined ? [] : [{ sourceUrl }];
    return buildVersion(harness, organization, (await buildPackage({ slug, media })).path);
  };
  const askFor = (version: Awaited<ReturnType<typeof build>>) =>
    ask(address + exportPath(version), { headers, signal: leaving.signal });

  expect((await askFor(await build('the-built-one'))).status).toBe(200);
  const broken = await build('the-failed-one');
  await harness.db.lessonContents.deleteMany({ versionId: broken._id });
  expect((await askFor(broken)).status).toBe(422);
  for (const version of [await build('the-slow-one', origin.url('/slow.png')), await build('the-next-one')]) {
    asking.push(askFor(version).catch(() => undefined));
    await waitFor('its job', async () => (await queue.jobs.getActiveCount()) > 0);
  }
  await waitFor('a job that waits', async () => (await queue.jobs.getPrioritizedCount()) > 0);
});

afterAll(async () => {
  leaving.abort();
  await Promise.all(asking);
  await origin.close();
  await queue.close();
  await harness.close();
});

/** Opens a page of the board, logged in; collects errors of the browser and requests to other servers. */
async function open(path: string): Promise<{ page: Page; complaints: string[]; foreign: string[] }> {
  const context = await browser.newContext({
    httpCredentials: login,
    viewport: { width: 1280, height: 900 },
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  const foreign: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(address) && !request.url().startsWith('data:')) foreign.push(request.url());
  });
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
  });
  await page.goto(`${address}/admin/queues${path}`);
  return { page, complaints, foreign };
}

test('an operator sees the queue and its jobs by name, without errors in the browser', async () => {
  const { page, complaints, foreign } = await open('');
  await page.getByText('4 Jobs').waitFor();
  for (const [status, name] of [
    ['active', 'the-slow-one-v1.zip'],
    ['prioritized', 'the-next-one-v1.zip'],
    ['completed', 'the-built-one-v1.zip'],
    ['failed', 'the-failed-one-v1.zip'],
  ] as const) {
    await page.goto(`${address}/admin/queues/queue/${queue.jobs.name}?status=${status}`);
    await page.getByText(name).first().waitFor();
  }
  expect(complaints).toEqual([]);
  expect(foreign).toEqual([]);
});

test("the board's own page can pause the queue; a page of another site cannot use its login", async () => {
  const { page } = await open(`/queue/${queue.jobs.name}?status=failed`);
  const write = (method: string, path: string) =>
    page.evaluate(
      async ([url, options]) =>
        fetch(url, options).then(
          (response) => response.status,
          () => 'refused',
        ),
      [
        `${address}/admin/queues/api/queues/${queue.jobs.name}/${path}`,
        { method, credentials: 'include', mode: method === 'POST' ? 'no-cors' : 'cors' },
      ] as const,
    );
  expect(await write('PUT', 'pause')).toBe(200);
  expect(await queue.jobs.isPaused()).toBe(true);
  expect(await write('PUT', 'resume')).toBe(200);

  origin.serve('/evil', '<p>evil</p>', { contentType: 'text/html' });
  await page.goto(origin.url('/evil'));
  const answered = page.waitForResponse((response) => response.url().endsWith('/add'));
  await write('POST', 'add');
  expect((await answered).status()).toBe(403);
  expect(await write('PUT', 'pause')).toBe('refused');
  expect(await queue.jobs.isPaused()).toBe(false);
});
