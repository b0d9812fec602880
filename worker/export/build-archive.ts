import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import type { Config } from '../../shared/config.ts';
import { LecternError } from '../../shared/errors.ts';
import { incompleteKey } from '../../shared/jobs.ts';
import type { ExportJob, ExportProgress, ExportResult } from '../../shared/jobs.ts';
import { rewriteMediaReferences } from '../../shared/lessons/media-references.ts';
import type { Database } from '../../shared/models/database.ts';
import { claimExportTime } from '../../shared/models/export-record.ts';
import { findContent } from '../../shared/models/lesson-content.ts';
import { findPublishedVersion } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { bytesOf, digestOf } from '../../shared/storage/digest.ts';
import type { Digest, Store } from '../../shared/storage/store.ts';
import { ArchiveWriter } from './archive-writer.ts';
import type { Downloader } from './download/downloader.ts';
import { createManifest } from './manifest.ts';
import { filesOfRelease, planExport } from './plan.ts';
import type { ExportPlan } from './plan.ts';
import { MediaCache } from './media-cache.ts';
import { failureOf, isMissing, MissingFile } from './outcome.ts';
import type { Missing, Outcomes } from './outcome.ts';

export interface ExportDependencies {
  db: Database;
  store: Store;
  downloader: Downloader;
  config: Pick<Config, 'export' | 'download'>;
}

/** A file of the archive, found: where its bytes are. */
interface FoundFile extends Digest {
  area: 'assets' | 'cache';
}

/**
 * Builds a published version's archive into the store, unless it is there. Files are downloaded in parallel and
 * written, in the archive's order, while others still arrive; memory does not grow with their sizes.
 *
 * A file that cannot be had never fails the export: manifest.json names it, and the archive is stored as incomplete.
 *
 * @throws {LecternError} NOT_FOUND when the version is not published any more; INVALID_CONTENT when its content is
 * missing or the archive would be over the limit. Any other error may pass: the job may be tried again.
 */
export async function buildArchive(
  deps: ExportDependencies,
  job: ExportJob,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (progress: ExportProgress) => void },
): Promise<ExportResult> {
  const { db } = deps;
  const version = await findPublishedVersion(db, job.organizationId, job.lessonId, job.versionId);
  if (version === null) throw new LecternError('NOT_FOUND', 'Published version not found');
  const content = await findContent(db, version._id);
  if (content === null) throw new LecternError('INVALID_CONTENT', 'The content of this version is missing.');

  const plan = await planExport(db, version, content);
  const paths = new Map(plan.media.map(({ id, path }) => [id, `./${path}`]));
  const lesson = rewriteMediaReferences(
    { ...content, lesson: { ...content.lesson, status: 'published' } },
    (id) => paths.get(id) ?? `./media/${id}.bin`,
  );
  const lessonJson = Buffer.from(`${JSON.stringify(lesson, null, 2)}\n`);

  // One failure ends every download that is still under way.
  const stop = new AbortController();
  const finding = findFiles(deps, plan, lessonJson.length, AbortSignal.any([signal, stop.signal]));
  try {
    return await writeArchive(deps, {
      job,
      version,
      plan,
      lessonJson,
      files: await finding,
      signal,
      onProgress,
    });
  } finally {
    stop.abort();
    await finding.then((files) => Promise.allSettled(files.values())).catch(() => undefined);
  }
}

/** Looks for every file at once, within the limits on downloads; the answers come as the files do. */
async function findFiles(
  { db, store, downloader, config }: ExportDependencies,
  plan: ExportPlan,
  lessonBytes: number,
  signal: AbortSignal,
): Promise<Map<string, Promise<FoundFile | Missing>>> {
  const limit = pLimit(config.download.concurrency);
  const cache = new MediaCache(db, store, downloader);
  const budget = createBudget(config.export.maxBytes, lessonBytes);
  await cache.prepare(plan.media.flatMap(({ medium }) => medium?.sourceUrl ?? []));

  const files = new Map<string, Promise<FoundFile | Missing>>();
  const find = (path: string, found: () => Promise<FoundFile>) => {
    const promise = found()
      .then((file) => budget.spend(file))
      .catch(failureOf);
    // Whoever writes the archive awaits these in order; an earlier failure must not make the rest unhandled.
    promise.catch(() => undefined);
    files.set(path, promise);
  };
  for (const { path, medium } of plan.media) {
    find(path, async () => {
      if (medium?.asset) return findAsset(store, medium.asset);
      const url = medium?.sourceUrl;
      if (typeof url !== 'string') throw new MissingFile('unknown_media');
      const request = { url, mimeType: medium?.mimeType ?? '', maxBytes: config.download.maxBytes, signal };
      return limit(async () => ({ ...(await cache.get(request)), area: 'cache' as const }));
    });
  }
  for (const { release } of plan.widgets) {
    if (release === null) continue;
    for (const { path, file } of filesOfRelease(release)) find(path, () => findAsset(store, file));
  }
  return files;
}

async function findAsset(store: Store, asset: Digest): Promise<FoundFile> {
  const file = await store.assets.open(asset);
  if (file === null) throw new MissingFile('not_found');
  await file.close();
  return { ...asset, area: 'assets' };
}

/** Counts what the archive will hold, so that one that is too large stops before it fills the disk. */
function createBudget(maxBytes: number, alreadySpent: number) {
  let spent = alreadySpent;
  return {
    spend(file: FoundFile): FoundFile {
      spent += file.size;
      if (spent > maxBytes) {
        throw new LecternError(
          'INVALID_CONTENT',
          `The archive would be larger than the limit of ${maxBytes} bytes.`,
        );
      }
      return file;
    },
  };
}

interface ArchiveInput {
  job: ExportJob;
  version: LessonVersion;
  plan: ExportPlan;
  lessonJson: Buffer;
  files: Map<string, Promise<FoundFile | Missing>>;
  signal: AbortSignal;
  onProgress: (progress: ExportProgress) => void;
}

async function writeArchive(deps: ExportDependencies, input: ArchiveInput): Promise<ExportResult> {
  const { job, version, plan, lessonJson, files, signal, onProgress } = input;
  // Whether files are missing shows at the end only, and the key with it: the draft is named when it is published.
  const draft = await deps.store.archives.create();
  try {
    const writer = new ArchiveWriter(draft, version.publishedAt ?? version.createdAt);
    const outcomes: Outcomes = new Map();
    const progress: ExportProgress = { done: 0, total: files.size + 2, bytes: 0 };
    const add = async (path: string, digest: Digest, chunks: AsyncIterable<Uint8Array>) => {
      await writer.add(`${plan.folder}/${path}`, digest, chunks);
      outcomes.set(path, digest);
    };
    const step = (bytes: number) => {
      progress.done += 1;
      progress.bytes += bytes;
      onProgress({ ...progress });
    };

    for (const [path, finding] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
      signal.throwIfAborted();
      const found = await finding;
      if (isMissing(found)) outcomes.set(path, found);
      else await addStored(deps.store, found, (chunks) => add(path, found, chunks));
      step(isMissing(found) ? 0 : found.size);
    }
    await add('lesson.json', digestOf(lessonJson), bytesOf(lessonJson));
    step(lessonJson.length);

    const complete =
      plan.widgets.every(({ release }) => release !== null) && ![...outcomes.values()].some(isMissing);
    const exportedAt = complete
      ? await claimExportTime(deps.db, job.key, contentDigest(outcomes))
      : new Date();
    const manifest = createManifest(version, plan, outcomes, exportedAt);
    const manifestJson = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
    await add('manifest.json', digestOf(manifestJson), bytesOf(manifestJson));
    step(manifestJson.length);

    const { size, sha256 } = await writer.finish();
    signal.throwIfAborted();
    await draft.publish(complete ? job.key : incompleteKey(job.key), sha256);
    const failures = manifest.failedMedia.length + manifest.failedWidgets.length;
    return { size, files: outcomes.size - [...outcomes.values()].filter(isMissing).length, failures };
  } finally {
    await draft.discard();
  }
}

/** Opens a file only now that its turn has come, so that however many there are, one is open. */
async function addStored(
  store: Store,
  found: FoundFile,
  add: (chunks: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const file = await store[found.area].open(found);
  if (file === null) throw new Error(`${found.sha256} left the store while it was needed`);
  try {
    await add(file.chunks());
  } catch (error) {
    // A damaged copy of a download is not kept for the next try.
    if (found.area === 'cache') await store.cache.delete(found.sha256);
    throw error;
  } finally {
    await file.close();
  }
}

function contentDigest(outcomes: Outcomes): string {
  const hash = createHash('sha256');
  for (const [path, outcome] of outcomes) {
    if (!isMissing(outcome)) hash.update(`${path}\n${outcome.size}\n${outcome.sha256}\n`);
  }
  return hash.digest('hex');
}
