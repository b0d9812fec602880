import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, onTestFinished, test } from 'vitest';
import { digestOfChunks } from '../../shared/storage/digest.ts';
import { startBreakingProxy } from '../imports/breaking-proxy.ts';
import { statusOf, uploadWithClient } from '../imports/uploads.ts';
import { everythingStored, importInto } from '../packages/import-support.ts';
import { loadArchiver } from '../packages/zip-builder.ts';
import { startApiProcess } from '../support/api-process.ts';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import { longestBlock, maxBlockMs } from '../support/longest-block.ts';
import { useHarness } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { generateBytes, sumsOf } from './generated-bytes.ts';
import { peakMegabytes, printFigure } from './measure.ts';
import { pngWith } from '../exports/pictures.ts';

const harness = useHarness();

const files = 4;
const fileBytes = 512 * 1024 ** 2;
const breaks = 10;
const maxMegabytes = 250;

/** Writes a package of 2 GiB; returns its path, and the digest of each medium. */
async function writeLargePackage(): Promise<{ path: string; digests: string[] }> {
  const media = Array.from({ length: files }, () => ({ id: randomUUID(), bytes: pngWith('x') }));
  const { path: folder, mediaIds } = await buildPackage({ media });
  const { ZipArchive } = await loadArchiver();
  const archive = new ZipArchive({ store: true });
  const path = join(dirname(folder), 'large.zip');
  const written = pipeline(archive, createWriteStream(path));
  for (const name of ['lesson.json', 'manifest.json']) {
    archive.append(await readFile(join(folder, name)), { name });
  }
  const digests: string[] = [];
  for (const [index, id] of mediaIds.entries()) {
    digests.push(sumsOf(index, fileBytes).sha256);
    const source = Readable.from(generateBytes(index, fileBytes), { objectMode: false });
    archive.append(source, { name: `media/${id}.png` });
  }
  await archive.finalize();
  await written;
  return { path, digests };
}

test('2 GiB arrive intact over a connection that breaks ten times, with little memory in the API', async () => {
  const { path, digests } = await writeLargePackage();
  onTestFinished(() => rm(path, { force: true }));
  const { size } = await stat(path);
  const { headers } = await buildOrganization(harness);
  const api = await startApiProcess(harness);
  onTestFinished(async () => void (await api.end()));
  const before = await peakMegabytes(api.pid);
  const proxy = await startBreakingProxy(api.url, { everyBytes: Math.floor(size / 12), times: breaks });
  onTestFinished(() => proxy.close());
  const started = Date.now();
  const id = await uploadWithClient({ url: proxy.url, headers }, path);
  const seconds = (Date.now() - started) / 1000;
  expect(proxy.breaks()).toBe(breaks);
  const stored = createReadStream(join(harness.config.storeDir, 'v1', 'uploads', id));
  expect((await digestOfChunks(stored)).sha256).toBe((await digestOfChunks(createReadStream(path))).sha256);
  const peak = await peakMegabytes(api.pid);
  printFigure('upload', {
    bytes: size,
    breaks: proxy.breaks(),
    seconds,
    'API before MB': before,
    'API peak MB': peak,
  });
  expect(peak).toBeLessThan(maxMegabytes);

  const stopWorker = await harness.startWorker();
  onTestFinished(stopWorker);
  const target = { url: api.url, headers };
  const { report } = await waitFor(
    'the import',
    async () => {
      const status = await statusOf(target, id);
      return status.status === 'imported' ? status : null;
    },
    600_000,
  );
  const media = await harness.db.media
    .find({ versionId: report?.versionId ?? '' })
    .lean()
    .exec();
  expect(media.map(({ asset }) => asset?.sha256).sort()).toEqual(digests.toSorted());
});

test('a package of millions of objects is refused, and the event loop goes on', async () => {
  const { organization } = await buildOrganization(harness);
  // They take much more memory than their text.
  const list: unknown[] = new Array(4_000_000).fill({});
  const { path } = await buildPackage({ blocks: () => [{ type: 'Text', props: { id: 't', list } }] });
  const before = await everythingStored(harness);
  const refused = () =>
    expect(importInto(harness, organization, path)).rejects.toThrow('takes too much memory');
  expect(await longestBlock(refused)).toBeLessThan(maxBlockMs);
  expect(await everythingStored(harness)).toEqual(before);
});
