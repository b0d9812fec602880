import { expect, test } from 'vitest';
import { buildPackage, buildVersion } from '../support/factories.ts';
import { waitFor } from '../support/wait-for.ts';
import { expectArchive, longTimeoutMs, startFleet } from './fleet.ts';

test('a file needed by two lessons at once, on two workers, is downloaded once', async () => {
  // One build at a time, so that two builds are on two workers.
  const fleet = await startFleet({ WORKER_CONCURRENCY: '1' });
  const api = await fleet.startApi();
  await Promise.all([fleet.startWorker(), fleet.startWorker()]);
  const { lesson: first, held, path } = await fleet.publishHeld([300_000]);
  const other = { id: '', path: '/other', bytes: Buffer.alloc(1000, 5) };
  fleet.origin.serve(other.path, other.bytes);
  const files = [...first.files, other];
  const type = { mimeType: 'application/pdf', extension: 'pdf' };
  const media = files.map((one) => ({ sourceUrl: fleet.origin.url(one.path), ...type }));
  const built = await buildPackage({ media });
  const second = {
    version: await buildVersion(fleet.harness, fleet.organization, built.path),
    files: files.map((one, index) => ({ ...one, id: built.mediaIds[index] ?? '' })),
  };

  const asked = [fleet.request(api, first)];
  await held.reached;
  asked.push(fleet.request(api, second));
  await waitFor('the second build', () => fleet.origin.requests(other.path) > 0, longTimeoutMs);
  held.release();
  const answers = await Promise.all(asked);
  for (const [index, lesson] of [first, second].entries())
    await expectArchive(answers[index] as (typeof answers)[0], lesson);
  expect(fleet.origin.requests(path)).toBe(1);
});
