import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { buildOrganization, buildPackage, buildVersion, exportPath } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, expectFailure } from '../support/answers.ts';
import { openQueue } from './open-queue.ts';

/** Below the import limit, so that only the build meets the limit. */
const workerLimit = 200_000;

let harness: Harness;
let address: string;
let tenant: Awaited<ReturnType<typeof buildOrganization>>;

beforeAll(async () => {
  harness = await startHarness();
  address = await harness.startApi();
  await harness.startWorker({ EXPORT_MAX_BYTES: String(workerLimit) });
  tenant = await buildOrganization(harness);
});
afterAll(() => harness.close());

const invalidContent = (message: string) => ({
  status: 422,
  code: 'INVALID_CONTENT',
  error: 'Invalid Content',
  message,
});

async function askForPackage(overrides: Parameters<typeof buildPackage>[0]) {
  const { path } = await buildPackage(overrides);
  const version = await buildVersion(harness, tenant.organization, path);
  return { version, answer: await ask(address + exportPath(version), { headers: tenant.headers }) };
}

const section = (steps: unknown[], id = 's') => ({ id, title: 'A section', order_index: 0, steps });
const step = (content: unknown[]) => ({
  id: 't',
  title: 'A step',
  order_index: 0,
  content: { root: { props: {} }, content },
});

test.each<[string, unknown[], string]>([
  ['no sections', [], 'The lesson has no sections'],
  ['a section without steps', [section([])], 'Section 1 ("A section") has no steps'],
  ['a step without blocks', [section([step([])])], 'Step "A step" in section "A section" has no blocks'],
  [
    'a block without a type',
    [section([step([{ props: { id: 'a' } }])])],
    'Step "A step" in section "A section" has a block without a type (content.content[0])',
  ],
])(
  'exporting a lesson published by force with %s gets 422 with the problem in the message',
  async (_what, sections, problem) => {
    const { answer } = await askForPackage({ sections });
    expectFailure(answer, invalidContent(`The lesson cannot be exported: ${problem}`));
  },
);

test('the message lists every problem of a lesson', async () => {
  const { answer } = await askForPackage({ sections: [section([], 'r'), section([step([])])] });
  expectFailure(
    answer,
    invalidContent(
      'The lesson cannot be exported: Section 1 ("A section") has no steps; ' +
        'Step "A step" in section "A section" has no blocks',
    ),
  );
});

test('an invalid lesson is rejected without queueing a job', async () => {
  const queue = await openQueue(harness);
  onTestFinished(() => queue.close());
  const before = await queue.jobs.getJobCounts();
  const { answer } = await askForPackage({ sections: [] });
  expect(answer.status).toBe(422);
  expect(answer.headers.get('retry-after')).toBeNull();
  expect(await queue.jobs.getJobCounts()).toEqual(before);
});

test('exporting a version without content gets 422', async () => {
  const { path } = await buildPackage();
  const version = await buildVersion(harness, tenant.organization, path);
  await harness.db.lessonContents.deleteMany({ versionId: version._id });
  const answer = await ask(address + exportPath(version), { headers: tenant.headers });
  expectFailure(answer, invalidContent('The content of this version is missing.'));
});

test('an archive over EXPORT_MAX_BYTES gets 422 with the limit', async () => {
  const { answer, version } = await askForPackage({ media: [{ bytes: randomBytes(workerLimit) }] });
  const failure = invalidContent(`The archive would be larger than the limit of ${workerLimit} bytes.`);
  expectFailure(answer, failure);
  expectFailure(await ask(address + exportPath(version), { headers: tenant.headers }), failure);
});

test('an archive below EXPORT_MAX_BYTES is exported', async () => {
  const { answer } = await askForPackage({ media: [{ bytes: randomBytes(1000) }] });
  expect(answer.status).toBe(200);
});
