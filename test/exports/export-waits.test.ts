import { get } from 'node:http';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import {
  buildOrganization,
  buildPackage,
  buildVersion,
  exportPath,
  statusPath,
} from '../support/factories.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { startExportLab } from './held-exports.ts';
import type { ExportLab } from './held-exports.ts';
import { openStatusStream } from './status-stream.ts';

let lab: ExportLab;
beforeAll(async () => {
  lab = await startExportLab({ EXPORT_WAITS_PER_ORGANIZATION: '2' });
});
afterAll(() => lab.close());

/** Waits for an archive that no worker builds, until the returned function is called. */
function waitForZip(version: LessonVersion, headers: object): () => void {
  const request = get(lab.api + exportPath(version), { headers: { ...headers } });
  request.on('error', () => undefined);
  onTestFinished(() => void request.destroy());
  return () => request.destroy();
}

const statusOfStream = async (version: LessonVersion, headers: object = lab.headers) => {
  const response = await openStatusStream(lab.api, version, headers);
  response.destroy();
  return response.statusCode;
};

test('an organization over its limit of waiting requests gets a retry response, and other organizations keep waiting', async () => {
  const version = await lab.build();
  const asAsync = { headers: { ...lab.headers, prefer: 'respond-async' } };
  expect((await ask(lab.api + exportPath(version), asAsync)).status).toBe(202);
  const stream = await openStatusStream(lab.api, version, lab.headers);
  const leave = waitForZip(version, lab.headers);
  await waitFor('both waits', async () => (await statusOfStream(version)) === 429);

  const refused = await ask(lab.api + exportPath(version), { headers: lab.headers });
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('10');
  expect(jsonOf(refused)).toMatchObject({ code: 'TOO_MANY_REQUESTS' });
  // Requests that do not wait still succeed.
  expect((await ask(lab.api + exportPath(version), asAsync)).status).toBe(202);
  expect((await ask(lab.api + statusPath(version), { headers: lab.headers })).status).toBe(200);

  const { organization, headers } = await buildOrganization(lab.harness);
  const theirs = await buildVersion(lab.harness, organization, (await buildPackage()).path);
  await ask(lab.api + exportPath(theirs), { headers: { ...headers, prefer: 'respond-async' } });
  expect(await statusOfStream(theirs, headers)).toBe(200);

  leave();
  await waitFor('a place', async () => (await statusOfStream(version)) === 200);
  stream.destroy();
  waitForZip(version, lab.headers);
  await waitFor('a place', async () => (await statusOfStream(version)) === 200);
});
