import { beforeAll, expect, test } from 'vitest';
import { enqueueExport } from '../../shared/exports/enqueue.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { beginSession, buildUser, quickHash } from '../accounts/users.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { useApi, useStarted } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { openQueue } from './open-queue.ts';

const api = useApi({}, { worker: true });

const queue = useStarted(
  () => openQueue(api),
  (opened) => opened.close(),
);

interface Listed {
  id: string;
  lessonId: string;
  status: string;
  organizationId?: string;
}
interface Page {
  exports: Listed[];
  nextCursor: string | null;
}

let versions: LessonVersion[];

const list = async (query = '', headers: Record<string, string> = api.headers, path = '/api/exports') =>
  jsonOf(await ask(`${api.url}${path}?${query}`, { headers })) as Page;
const change = (action: string, ids: string[], headers: Record<string, string> = api.headers) =>
  ask(`${api.url}/api/exports/${action}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ ids }),
  });

beforeAll(async () => {
  versions = [];
  for (let index = 0; index < 3; index += 1) {
    const version = await buildVersion(api, api.organization, (await buildPackage()).path);
    versions.push(version);
    // The content of the last one is gone, so its build fails.
    if (index === 2) await api.db.lessonContents.deleteMany({ versionId: version._id });
    await ask(api.url + exportPath(version), { headers: api.headers });
  }
});

test('the builds of an organization are listed in pages, the newest first, with what became of them', async () => {
  const first = await list('limit=2');
  expect(first.exports).toMatchObject([
    {
      lessonId: versions[2]?.lessonId,
      status: 'failed',
      size: null,
      error: { code: expect.any(String) as string },
    },
    { lessonId: versions[1]?.lessonId, status: 'ready', missingFiles: 0, error: null },
  ]);
  const second = await list(`cursor=${first.nextCursor ?? ''}`);
  expect(second).toMatchObject({ exports: [{ lessonId: versions[0]?.lessonId }], nextCursor: null });
  expect((await list('status=failed')).exports).toHaveLength(1);
  expect((await list(`lessonId=${versions[0]?.lessonId ?? ''}`)).exports).toHaveLength(1);
});

test('another organization sees and changes none of them', async () => {
  const { headers } = await buildOrganization(api);
  expect(await list('', headers)).toEqual({ exports: [], nextCursor: null });
  const [one] = (await list()).exports;
  for (const action of ['retry', 'cancel'])
    expectError(await change(action, [one?.id ?? ''], headers), 404, 'Export not found');
});

test('failed ones are built again in bulk', async () => {
  const failed = (await list('status=failed')).exports.map(({ id }) => id);
  expect(jsonOf(await change('retry', failed))).toEqual({ changed: 1 });
  await waitFor('the second build', async () => (await list('status=failed')).exports.length === 2);
  expect(jsonOf(await change('cancel', failed))).toEqual({ changed: 0 });
  await api.db.organizations.updateOne({ _id: api.organization._id }, { plan: 'solo' });
  expectError(await change('retry', failed), 403, 'Export is not available on your plan');
  await api.db.organizations.updateOne({ _id: api.organization._id }, { plan: 'edtech' });
});

test('one that is canceled before its build stays in the list; an ended one’s id cancels no newer build', async () => {
  const version = await buildVersion(api, api.organization, (await buildPackage()).path);
  await queue.jobs.pause();
  const first = await enqueueExport(queue.jobs, exportJobOf(version));
  expect(jsonOf(await change('cancel', [first]))).toEqual({ changed: 1 });
  const listed = async () => (await list(`lessonId=${version.lessonId}`)).exports;
  expect(await listed()).toMatchObject([
    { id: first, status: 'canceled', endedAt: expect.any(String) as string },
  ]);
  expect(jsonOf(await change('retry', [first]))).toEqual({ changed: 1 });
  expect(jsonOf(await change('cancel', [first]))).toEqual({ changed: 0 });
  expect((await listed()).map(({ status }) => status)).toEqual(['queued', 'canceled']);
  await queue.jobs.resume();
  await waitFor('the newer build', async () => (await listed())[0]?.status === 'ready');
});

test('a filtered page reads a bounded number of jobs, and the next one continues', async () => {
  const key = queue.jobs.ownKey(`recent:${api.organization._id}`);
  const others = Array.from({ length: 350 }, (_, index) => [Date.now() + index, `gone-${index}`]).flat();
  await queue.jobs.redis.zadd(key, ...others);
  const first = await list('status=failed');
  expect(first).toMatchObject({ exports: [], nextCursor: expect.any(String) as string });
  expect((await list(`status=failed&cursor=${first.nextCursor ?? ''}`)).exports).toHaveLength(2);
});

test('operators see those of all organizations', async () => {
  const { user } = await buildUser(api, { role: 'operator', passwordHash: quickHash });
  const session = await beginSession(api, { user });
  const { exports } = await list('status=failed', session, '/api/operator/exports');
  expect(exports[0]).toMatchObject({ organizationId: api.organization._id, status: 'failed' });
});
