import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Frame, Page } from 'playwright-core';
import { startProcesses } from '../../cli/installation/processes.ts';
import { buildUser, openSession, quickHash } from '../../test/accounts/users.ts';
import { launchBrowser } from '../../test/support/browser.ts';
import { prepareInstallation } from '../installation.ts';
import { prose } from '../prose.ts';
import { writePackage } from '../write-package.ts';

/*
 * How long authors wait for a keystroke in the editor's preview: from the input in the form to the picture in which the
 * block has changed. The open step has 200 blocks, the lesson 300 steps. The baseline is a step with one block.
 */

const keys = Number(process.argv[3] ?? 100);
const steps = Number(process.argv[4] ?? 300);

const installation = await prepareInstallation();
const { folder, config, servers, settings, db, organization } = installation;
const processes = await startProcesses(config, servers, { workers: 0, settings });
const browser = await launchBrowser();
const { user } = await buildUser({ db }, { organization, role: 'author', passwordHash: quickHash });
const { cookie } = await openSession(processes.url, user);
for (const blocks of [1, 200]) {
  const times = await measure(await publish(blocks));
  const at = (share: number) => Math.round(times[Math.floor(times.length * share)] ?? 0);
  console.log(
    `${blocks} blocks, ${steps} steps, ${times.length} keys: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, maximum ${at(0.999)} ms`,
  );
}
await browser.close();
await processes.stop();
await installation.remove();

/** Publishes a lesson whose first step has a number of blocks, and returns its id. */
async function publish(blocks: number): Promise<string> {
  const path = join(folder, `lesson-${blocks}`);
  const block = (index: number) =>
    index % 4 === 0
      ? { type: 'Heading', props: { id: `b${index}`, text: `Heading ${index}`, level: 2 } }
      : { type: 'Text', props: { id: `b${index}`, html: `<p>${prose(60, index)}</p>` } };
  const step = (index: number) => ({
    ...{ id: `s${index}`, title: `Step ${index}`, order_index: index },
    content: { content: Array.from({ length: index === 0 ? blocks : 3 }, (_, at) => block(at)), root: {} },
  });
  const section = { id: 'one', title: 'Section', order_index: 0 };
  await writePackage(path, {
    ...{ lessonId: randomUUID(), versionId: randomUUID() },
    sections: [{ ...section, steps: Array.from({ length: steps }, (_, index) => step(index)) }],
  });
  return (await installation.publish(path)).lessonId;
}

/** Types into the first block. @returns the times in milliseconds, sorted */
async function measure(lessonId: string): Promise<number[]> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addCookies(
    cookie.split('; ').map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return { name, value: value.join('='), url: processes.url };
    }),
  );
  const page = await context.newPage();
  await page.goto(`${processes.url}/console/lessons/${lessonId}/edit`);
  const shown = page.frameLocator('.preview iframe');
  await shown.locator('[data-lectern-block=b0]').waitFor();
  await page.locator('.preview-overlay').click({ position: { x: 60, y: 30 } });
  // Before a word, and so inside a value if the form shows JSON.
  await page.evaluate(`(() => {
    const field = document.querySelector('.editor-form :is(input, textarea)');
    const at = field.value.indexOf('Heading');
    field.focus();
    field.setSelectionRange(at, at);
  })()`);
  const frame = page.frames().find((found) => found.url().endsWith('/edit-frame.html'));
  if (frame === undefined) throw new Error('the editor has no preview');
  await Promise.all([noteInputs(page), notePictures(frame)]);
  const times: number[] = [];
  for (let key = 0; key < keys; key += 1) {
    await page.keyboard.press('x');
    await frame.waitForFunction(`times.length > ${key}`);
    const [from, to] = await Promise.all([page, frame].map((side) => lastTime(side)));
    times.push(Number(to) - Number(from));
  }
  await context.close();
  return times.sort((one, other) => one - other);
}

async function noteInputs(page: Page): Promise<void> {
  await page.evaluate(`window.times = [];
    addEventListener('input', () => times.push(performance.timeOrigin + performance.now()), true);`);
}

/** Notes when a picture in which the block has changed is made. */
async function notePictures(frame: Frame): Promise<void> {
  await frame.evaluate(`window.times = [];
    const note = () => setTimeout(() => times.push(performance.timeOrigin + performance.now()));
    new MutationObserver(() => requestAnimationFrame(note))
      .observe(document.querySelector('[data-lectern-block=b0]'), { childList: true });`);
}

function lastTime(side: Page | Frame): Promise<number> {
  return side.evaluate('times.at(-1)');
}
