import { get } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { faultsIn } from '../support/axe.ts';
import { useBrowser } from '../support/use.ts';
import { useSimulatorLab } from './scripted-tool.ts';

// The tool is at 127.0.0.1, which makes it another site.
const lab = useSimulatorLab({ hostname: 'localhost' });
const browser = useBrowser();

async function open(path: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Page> {
  const context = await browser.newContext(options);
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(`${lab.simulator.urls.url}${path}`);
  return page;
}

test('a learner opens a link in a frame, where a reload launches it again, or in a new tab', async () => {
  const { scripted, simulator } = lab;
  scripted.pages.set('/launch', '<h1>The lesson</h1>');
  const link = scripted.link({ title: 'Tides in a frame' });
  const page = await open('/');
  await page.getByLabel('User').selectOption(simulator.sample.users.secondLearner.id);
  await page.getByLabel('Login by').selectOption('GET');
  await page.getByRole('button', { name: 'Open Tides in a frame' }).click();
  const lesson = page.frameLocator('iframe.tool').getByRole('heading', { name: 'The lesson' });
  await lesson.waitFor();
  expect(scripted.launches).toMatchObject([{ lti_storage_target: 'lti_storage' }]);
  await page.reload();
  await lesson.waitFor();
  expect(scripted.launches[1]).toHaveProperty('id_token');

  await page.goto(simulator.urls.home);
  const popup = page.waitForEvent('popup');
  await page.locator(`button[name=tab][value="${link.id}"]`).click();
  await (await popup).getByRole('heading', { name: 'The lesson' }).waitFor();
  expect(scripted.launches).toHaveLength(3);
  expect(scripted.launches[2]).not.toHaveProperty('lti_storage_target');
});

test('axe-core finds no violation in the pages, which show messages and grades', async () => {
  const { simulator, scripted } = lab;
  const link = scripted.link({ title: 'Graded', lineItem: { label: 'Graded', scoreMaximum: 10 } });
  const { learner } = simulator.sample.users;
  await simulator.driveLaunch({ user: learner, link });
  const [item] = simulator.lineItemsOf(link);
  if (item === undefined) throw new Error('no line item');
  await scripted.sendScore(item, { userId: learner.id, scoreGiven: 3, scoreMaximum: 4 });
  const page = await open('/');
  for (const path of ['/', '/grades', '/tools', '/return?lti_errormsg=Oh%20no', '/messages']) {
    await page.goto(`${simulator.urls.url}${path}`);
    expect(await faultsIn(page)).toStrictEqual([]);
  }
  await page.getByText('LtiResourceLinkRequest for Lena Brandt').first().click();
  await page.getByText('"email": "lena.brandt@school.example"').first().waitFor();
  await page.goto(`${simulator.urls.url}/grades`);
  await page.getByRole('row', { name: 'Lena Brandt 7.5 3 of 4 Completed FullyGraded' }).waitFor();
  await scripted.sendScore(item, { userId: learner.id, scoreGiven: 4, scoreMaximum: 4 });
  await page.getByRole('row', { name: 'Lena Brandt 10 4 of 4 Completed FullyGraded' }).waitFor();
});

test('forms on other sites are rejected', async () => {
  const headers = { 'sec-fetch-site': 'cross-site' };
  const answer = await fetch(`${lab.simulator.urls.url}/keys`, { method: 'POST', headers });
  expect(answer.status).toBe(403);
});

test('another host name that resolves to this machine gets no page', async () => {
  const { hostname, port } = new URL(lab.simulator.urls.url);
  const status = await new Promise((resolve, reject) => {
    const headers = { host: `rebound.example:${port}` };
    get({ hostname, port, path: '/messages', headers }, (answer) => resolve(answer.resume().statusCode)).on(
      'error',
      reject,
    );
  });
  expect(status).toBe(421);
});
