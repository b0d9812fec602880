import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { buildOrganization, manifestPath, statusPath } from '../support/factories.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, jsonOf } from '../support/answers.ts';
import type { AskOptions } from '../support/answers.ts';
import { startExportLab } from '../exports/lab.ts';
import type { ExportLab } from '../exports/lab.ts';
import { createChecker } from './openapi-checks.ts';
import type { Document } from './openapi-checks.ts';
import { openQueue } from '../exports/open-queue.ts';

const operations = {
  zip: 'GET /api/lessons/{lessonId}/versions/{versionId}/export-zip',
  manifest: 'GET /api/lessons/{lessonId}/versions/{versionId}/export-manifest',
  status: 'GET /api/lessons/{lessonId}/versions/{versionId}/export-status',
  cancel: 'DELETE /api/lessons/{lessonId}/versions/{versionId}/export-status',
};

let lab: ExportLab;
let check: ReturnType<typeof createChecker>['expectDocumented'];

beforeAll(async () => {
  lab = await startExportLab();
  check = createChecker(jsonOf(await ask(`${lab.api}/openapi.json`)) as Document).expectDocumented;
});
afterAll(() => lab.close());

/** Sends a request about a version's export and compares the response with the document; returns its status. */
async function documented(
  name: keyof typeof operations,
  version: LessonVersion,
  { query = '', ...options }: AskOptions & { query?: string } = {},
): Promise<number> {
  const operation = operations[name];
  const [method = '', path = ''] = operation.split(' ');
  const url = path.replace('{lessonId}', version.lessonId).replace('{versionId}', version._id);
  const answer = await ask(lab.api + url + query, { method, headers: lab.headers, ...options });
  check(operation, answer);
  return answer.status;
}

const asked = (extra: object) => ({ headers: { ...lab.headers, ...extra } });

test('exports without a waiting client are accepted, followed and cancelled', async () => {
  const version = await lab.build();
  const async = asked({ prefer: 'respond-async' });
  const events = { accept: 'text/event-stream' };
  expect(await documented('status', version)).toBe(200);
  expect(await documented('status', version, asked({ ...events, 'last-event-id': 'none' }))).toBe(204);
  expect(await documented('zip', version, async)).toBe(202);
  expect(await documented('manifest', version, async)).toBe(202);
  expect(await documented('status', version)).toBe(200);
  expect(await documented('cancel', version)).toBe(204);
  expect(await documented('status', version, asked(events))).toBe(200);
});

test('a build is cancelled, unless a client waits for it', async () => {
  const { version, held } = await lab.buildHeld();
  onTestFinished(() => held.release());
  onTestFinished(await lab.harness.startWorker());
  await documented('zip', version, asked({ prefer: 'respond-async' }));
  await held.reached;
  expect(await documented('status', version)).toBe(200);
  expect(await documented('cancel', version)).toBe(202);

  const other = await lab.buildHeld();
  onTestFinished(() => other.held.release());
  const waiting = documented('zip', other.version);
  await other.held.reached;
  expect(await documented('cancel', other.version)).toBe(409);
  other.held.release();
  expect(await waiting).toBe(200);
});

test('manifests, plain and with the player, also of an archive that lacks a file', async () => {
  onTestFinished(await lab.harness.startWorker());
  const version = await lab.build(Buffer.from('a picture'));
  expect(await documented('manifest', version)).toBe(200);
  expect(await documented('manifest', version, { query: '?include=player' })).toBe(200);
  const { version: lacking, held } = await lab.buildHeld();
  lab.origin.script(held.path, (_request, response) => void response.writeHead(404).end());
  expect(await documented('manifest', lacking)).toBe(200);
  expect(await documented('status', version)).toBe(200);
});

test('a failed export, and every error', async () => {
  const version = await lab.build();
  await lab.harness.db.lessonContents.deleteMany({ versionId: version._id });
  onTestFinished(await lab.harness.startWorker());
  expect(await documented('manifest', version)).toBe(422);
  const queue = await openQueue(lab.harness);
  onTestFinished(() => queue.close());
  await waitFor('the failure', async () => (await queue.jobs.getFailedCount()) > 0);
  expect(await documented('status', version)).toBe(200);
  const solo = await buildOrganization(lab.harness, { plan: 'solo' });
  const foreign = await buildOrganization(lab.harness);
  for (const name of ['manifest', 'status', 'cancel'] as const) {
    expect(await documented(name, version, { query: '?include=x' })).toBe(400);
    expect(await documented(name, version, { headers: {} })).toBe(401);
    expect(await documented(name, version, { headers: solo.headers })).toBe(403);
    expect(await documented(name, version, { headers: foreign.headers })).toBe(404);
  }
});

test('405 lists the methods of each path', async () => {
  const version = await lab.build();
  for (const [path, allowed] of [
    [manifestPath(version), 'GET, HEAD'],
    [statusPath(version), 'GET, HEAD, DELETE'],
  ] as const) {
    const answer = await ask(lab.api + path, { method: 'POST', headers: lab.headers });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allowed]);
  }
});
