import { beforeAll, describe, expect, test } from 'vitest';
import { s3Name, useS3Server } from '../storage/kinds.ts';
import { viewQueue } from '../exports/open-queue.ts';
import { filesBelow } from '../storage/stores.ts';
import { startS3Proxy } from '../support/s3-proxy.ts';
import { environmentOf } from '../support/s3-server.ts';
import type { S3Server } from '../support/s3-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { expectArchive, longTimeoutMs, startFleet } from './fleet.ts';
import { temporaryFolder } from '../support/folders.ts';

const s3Server = useS3Server();

const kB = 1024;

describe.skipIf(s3Server === null)(`machines that share only ${s3Name}`, () => {
  let server: S3Server;
  beforeAll(async () => {
    if (s3Server !== null) server = await s3Server();
  });

  test('two APIs serve archives that a worker on a third machine builds, and store none, although the bucket fails meanwhile', async () => {
    const prefix = `${Math.random().toString(36).slice(2)}/`;
    const proxy = await startS3Proxy(server.settings.endpoint ?? '', prefix);
    const fleet = await startFleet(environmentOf({ ...server.settings, endpoint: proxy.endpoint, prefix }));
    const folders = [await temporaryFolder(), await temporaryFolder(), await temporaryFolder()];
    const machines = folders.map((folder) => ({ LECTERN_DATA_DIR: folder }));
    const [api, other] = [await fleet.startApi(machines[0]), await fleet.startApi(machines[1])];
    await fleet.startWorker(machines[2]);
    const lesson = await fleet.publish([300 * kB, 8, 12_000 * kB]);

    const asked = Promise.all([fleet.request(api, lesson), fleet.request(other, lesson)]);
    // The first part of the archive or of a media file is being uploaded.
    await waitFor('an upload', () => proxy.requests.some((one) => one.startsWith('POST v1/')), longTimeoutMs);
    proxy.gone();
    const before = proxy.requests.length;
    await waitFor('failed retries', () => proxy.requests.length > before + 10, longTimeoutMs);
    proxy.back();

    for (const answer of await asked) await expectArchive(answer, lesson);
    expect(await viewQueue(fleet.harness).starts(lesson.version)).toBe(1);
    expect(lesson.files.map(({ path }) => fleet.origin.requests(path))).toEqual([1, 1, 1]);
    for (const folder of folders) {
      // Except the record of the API's URL.
      const kept = (await filesBelow(folder)).filter((file) => !/^api\/\d+\.json$/.test(file));
      expect(kept).toEqual([]);
    }
  });
});
