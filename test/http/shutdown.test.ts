import { once } from 'node:events';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { buffer, text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import {
  buildOrganization,
  buildPackage,
  buildVersion,
  exportPath,
  statusPath,
} from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, expectFailure, internalError } from '../support/answers.ts';
import { startApiProcess } from '../support/api-process.ts';
import { viewQueue } from '../exports/open-queue.ts';
import { unknownBytes } from '../support/factories.ts';

async function start() {
  const harness = await startHarness();
  onTestFinished(() => harness.close());
  // A shutdown that would wait for its end fails the test.
  const api = await startApiProcess(harness, { LOG_LEVEL: 'info', SHUTDOWN_SECONDS: '600' });
  onTestFinished(async () => void (await api.end('SIGKILL')));
  return { harness, api };
}

test('on shutdown silent connections and event streams end, clients that wait for a build get a retry response, and the job continues', async () => {
  const { harness, api } = await start();
  const { organization, headers } = await buildOrganization(harness);
  const version = await buildVersion(harness, organization, (await buildPackage()).path);
  const queue = viewQueue(harness);
  const asking = ask(api.url + exportPath(version), { headers });
  await waitFor('its job', async () => (await queue.jobs.getPrioritizedCount()) === 1);
  // The API accepts it before the connection of the event stream, which is newer.
  const { hostname, port } = new URL(api.url);
  await once(connect(Number(port), hostname), 'connect');
  const stream = { headers: { ...headers, accept: 'text/event-stream' }, agent: false };
  const opened = get(api.url + statusPath(version), stream);
  const [events] = (await once(opened, 'response')) as [IncomingMessage];
  expect(await api.end()).toBe('exit code 0');
  expect(await text(events)).toContain('id: queued');
  const answer = await asking;
  expectFailure(answer, internalError);
  expect(answer.headers.get('retry-after')).toBe('10');

  await harness.startWorker();
  const successor = await harness.startApi();
  expect((await ask(successor + exportPath(version), { headers })).status).toBe(200);
});

test('graceful shutdown finishes downloads in progress', async () => {
  const { harness, api } = await start();
  const { organization, headers } = await buildOrganization(harness);
  // More than any socket buffers, so that the API has to keep sending after the shutdown signal.
  const { path } = await buildPackage({ media: [{ bytes: unknownBytes(12 * 1024 ** 2) }] });
  const version = await buildVersion(harness, organization, path);
  const endWorker = await harness.startWorker();
  const whole = await ask(api.url + exportPath(version), { headers });
  await endWorker();

  // An Expect header is no reason to close the connection.
  const responses = await Promise.all(
    [headers, { ...headers, expect: 'the worst' }].map(async (sent) => {
      const request = get(api.url + exportPath(version), { headers: sent, agent: false });
      return (await once(request, 'response')) as [IncomingMessage];
    }),
  );
  const ended = api.end();
  await waitFor('the shutdown to begin', () => api.log().some(({ msg }) => msg === 'stopping'));
  for (const [response] of responses) {
    expect((await buffer(response)).equals(whole.body)).toBe(true);
  }
  expect(await ended).toBe('exit code 0');
});
