import { expect, onTestFinished, test } from 'vitest';
import { createDownloader } from '../../shared/media/downloads/downloader.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { ExportProgress } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { noIncompleteBuilds } from './exports.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import type { OpenFile, Store } from '../../shared/storage/store.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { buildArchive } from '../../worker/exports/build-archive.ts';
import { FollowUps } from '../../worker/exports/follow-ups.ts';
import { filesBelow, read } from '../storage/stores.ts';
import type { BuiltMedium } from '../support/factories.ts';
import { file, hang } from '../support/origin.ts';
import { waitFor } from '../support/wait-for.ts';
import { takeApart } from './exports.ts';
import { useExportLab } from './lab.ts';
import { png } from './pictures.ts';

/** A build that waits for a download fails its test. */
const lab = useExportLab({ DOWNLOAD_TIMEOUT_SECONDS: '600', DOWNLOAD_DEADLINE_SECONDS: '600' });

/** Returns the media id whose file has this position in the archive. */
const idAt = (place: number) => `${`${place}`.padStart(8, '0')}-0000-4000-8000-000000000000`;

const version = (media: BuiltMedium[]) =>
  lab.publish({ media: media.map((medium, place) => ({ id: idAt(place), ...medium })) });

interface BuildOptions {
  store?: Store;
  signal?: AbortSignal;
  onProgress?: (progress: ExportProgress) => void;
  maxBytes?: number;
}

/** Builds in this process as a worker does. */
function build(of: LessonVersion, { store, signal, onProgress, maxBytes }: BuildOptions = {}) {
  const { db, config } = lab.harness;
  const downloader = createDownloader(config.download);
  onTestFinished(() => downloader.close());
  return buildArchive(
    {
      db,
      store: store ?? lab.harness.store,
      downloader,
      incomplete: noIncompleteBuilds,
      config: { ...config, export: { ...config.export, ...(maxBytes !== undefined && { maxBytes }) } },
    },
    exportJobOf(of),
    { signal: signal ?? new AbortController().signal, onProgress: onProgress ?? (() => undefined) },
  );
}

/** Returns temporary files and archives that a failed build may have left. */
async function remainsOf(of: LessonVersion): Promise<string[]> {
  const { key } = exportJobOf(of);
  const files = await filesBelow(lab.harness.config.storeDir);
  return files.filter((path) => path.startsWith('v1/tmp/') || path.includes(key));
}

/** Wraps the store and counts its open files. */
function countOpenFiles(store: Store): { store: Store; open: () => number; most: () => number } {
  let open = 0;
  let most = 0;
  const counted = (file: OpenFile | null): OpenFile | null => {
    if (file === null) return null;
    open += 1;
    most = Math.max(most, open);
    return {
      ...file,
      async close() {
        open -= 1;
        await file.close();
      },
    };
  };
  const counting = (area: 'assets' | 'cache') => ({
    ...store[area],
    open: async (digest: Parameters<Store['assets']['open']>[0]) => counted(await store[area].open(digest)),
  });
  return {
    store: { ...store, assets: counting('assets'), cache: counting('cache') },
    open: () => open,
    most: () => most,
  };
}

/** Wraps the store and observes the writes into archives. */
function watchDrafts(store: Store, onWrite: (bytes: number) => void): Store {
  return {
    ...store,
    archives: {
      ...store.archives,
      async create() {
        const draft = await store.archives.create();
        return {
          ...draft,
          async write(chunks) {
            onWrite(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0));
            await draft.write(chunks);
          },
        };
      },
    },
  };
}

test('the build writes the archive while files still download', async () => {
  const large = Buffer.alloc(2 * 1024 ** 2, 1);
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  lab.origin.serve('/early.png', png(3));
  lab.origin.script('/late.png', async (request, response) => {
    await released;
    await file(png(4))(request, response);
  });
  const built = await version([
    { bytes: large, mimeType: 'application/pdf', extension: 'pdf' },
    { sourceUrl: lab.origin.url('/early.png') },
    { sourceUrl: lab.origin.url('/late.png') },
  ]);
  let written = 0;
  const store = watchDrafts(lab.harness.store, (bytes) => {
    written += bytes;
  });
  const building = build(built, { store });
  await waitFor('the first bytes of the archive', () => written >= large.length);
  await waitFor('the request for the late file', () => lab.origin.requests('/late.png') === 1);
  release();
  expect(await building).toMatchObject({ failures: 0 });
  const archive = await lab.harness.store.archives.open(exportJobOf(built).key);
  const { files } = await takeApart(await read(archive));
  await archive?.close();
  expect(files.get(`media/${idAt(2)}.png`)?.equals(png(4))).toBe(true);
});

test('an abort stops a build at once during an endless download, and leaves nothing behind', async () => {
  lab.origin.script('/never.png', hang());
  const built = await version([
    { bytes: png(5) },
    { sourceUrl: lab.origin.url('/never.png') },
    { bytes: png(6) },
  ]);
  const controller = new AbortController();
  const counted = countOpenFiles(lab.harness.store);
  const building = build(built, { store: counted.store, signal: controller.signal });
  await waitFor('the download', () => lab.origin.requests('/never.png') === 1);
  const reason = new Error('the worker is shutting down');
  controller.abort(reason);
  await expect(building).rejects.toBe(reason);
  expect(await remainsOf(built)).toEqual([]);
  expect(counted.open()).toBe(0);
});

test('a failing store stops a build and its downloads at once, and leaves nothing behind', async () => {
  let abandoned = false;
  lab.origin.script('/slow.png', (_request, response) => {
    response.on('close', () => {
      abandoned = true;
    });
  });
  const built = await version([
    { bytes: Buffer.alloc(2 * 1024 ** 2, 2), mimeType: 'application/pdf', extension: 'pdf' },
    { sourceUrl: lab.origin.url('/slow.png') },
  ]);
  const counted = countOpenFiles(lab.harness.store);
  const failing = watchDrafts(counted.store, () => {
    if (lab.origin.requests('/slow.png') > 0) throw new Error('no space left on device');
  });
  // The first write waits until the download is in progress.
  const store: Store = {
    ...failing,
    assets: {
      ...failing.assets,
      async open(digest) {
        await waitFor('the download', () => lab.origin.requests('/slow.png') === 1);
        return failing.assets.open(digest);
      },
    },
  };
  await expect(build(built, { store })).rejects.toThrow('no space left on device');
  expect(await remainsOf(built)).toEqual([]);
  expect(counted.open()).toBe(0);
  await waitFor('the end of the download', () => abandoned);
});

test('an archive over the size limit stops a build at once, even while another file never arrives', async () => {
  lab.origin.script('/first.png', hang());
  const built = await version([
    { sourceUrl: lab.origin.url('/first.png') },
    { bytes: png(7) },
    { bytes: png(8) },
    { bytes: png(9) },
  ]);
  await expect(build(built, { maxBytes: 5000 })).rejects.toMatchObject({
    code: 'INVALID_CONTENT',
    message: 'The archive would be larger than the limit of 5000 bytes.',
  });
  expect(await remainsOf(built)).toEqual([]);
});

test('a full disk does not lose the stored copies of downloads', async () => {
  const large = Buffer.alloc(2 * 1024 ** 2, 3);
  lab.origin.serve('/kept.pdf', large);
  const medium = { sourceUrl: lab.origin.url('/kept.pdf'), mimeType: 'application/pdf', extension: 'pdf' };
  const built = await version([medium]);
  const store = watchDrafts(lab.harness.store, () => {
    throw new Error('no space left on device');
  });
  await expect(build(built, { store })).rejects.toThrow('no space left on device');
  expect(await lab.harness.store.cache.has(digestOf(large))).toBe(true);
});

test('the manifest names a missing uploaded file, and the export contains the rest', async () => {
  const built = await version([{ bytes: png(13) }, { bytes: png(14) }]);
  const medium = await lab.harness.db.media
    .findOne({ versionId: built._id, mediaId: idAt(0) })
    .lean()
    .exec();
  await lab.harness.store.assets.delete(medium?.asset?.sha256 ?? '');
  expect(await build(built)).toMatchObject({ failures: 1 });
});

test('two concurrent builds of one version publish the same archive', async () => {
  const built = await version([{ bytes: png(15) }]);
  const [one, other] = await Promise.all([build(built), build(built)]);
  expect(one).toEqual(other);
  const { key } = exportJobOf(built);
  expect((await filesBelow(lab.harness.config.storeDir)).filter((path) => path.includes(key)).length).toBe(1);
  expect(await lab.harness.db.exportRecords.countDocuments({ exportKey: key })).toBe(1);
});

test('small downloads get files of their own once their archive is published, except those that are read twice', async () => {
  const [once, twice] = [png(20), png(21)];
  lab.origin.serve('/once.png', once);
  lab.origin.serve('/twice.png', twice);
  const sources = ['/twice.png', '/once.png', '/twice.png'];
  const built = await version(sources.map((path) => ({ sourceUrl: lab.origin.url(path) })));
  const { store } = lab.harness;
  const stored: string[] = [];
  const watched: Store = {
    ...store,
    cache: {
      ...store.cache,
      async put(...input) {
        const digest = await store.cache.put(...input);
        stored.push(digest.sha256);
        return digest;
      },
    },
    archives: {
      ...store.archives,
      async create() {
        const draft = await store.archives.create();
        const publish = (...as: Parameters<typeof draft.publish>) =>
          draft.publish(...as).then(() => void stored.push('the archive'));
        return { ...draft, publish };
      },
    },
  };
  expect(await build(built, { store: watched })).toMatchObject({ failures: 0 });
  expect(stored).toEqual([digestOf(twice).sha256, 'the archive', digestOf(once).sha256]);
  expect(await store.cache.has(digestOf(once))).toBe(true);
  expect(await lab.harness.db.remoteFiles.countDocuments({ url: lab.origin.url('/once.png') })).toBe(1);
});

test('while a slow store holds up what follows builds, at most four of them wait', async () => {
  const followUps = new FollowUps(createLogger(lab.harness.config, 'test'));
  const begun: number[] = [];
  let end: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (end = resolve));
  for (const build of [1, 2, 3, 4, 5, 6, 7]) {
    followUps.run(async () => {
      begun.push(build);
      await held;
    });
  }
  end();
  await expect.poll(() => begun).toEqual([1, 2, 3, 4, 5]);
  await followUps.close();
});
