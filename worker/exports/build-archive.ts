import type { Config } from '../../shared/platform/config.ts';
import type { Downloader } from '../../shared/media/downloads/downloader.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { exportJobOf, incompleteKey } from '../../shared/exports/jobs.ts';
import type { ExportJob, ExportProgress, ExportResult } from '../../shared/exports/jobs.ts';
import { profileOf } from '../../shared/exports/profiles.ts';
import { rewriteMediaReferences } from '../../shared/lessons/media-references.ts';
import type { Database } from '../../shared/models/database.ts';
import { claimExportTime, findExportRecord, saveExportRecord } from '../../shared/models/export-record.ts';
import type { ExportEntry, ExportRecord } from '../../shared/models/export-record.ts';
import { findContent } from '../../shared/models/lesson-content.ts';
import { findPublishedVersion } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { EvictableFile } from '../../shared/storage/file-usage.ts';
import type { Coordination } from '../../shared/coordination/coordination.ts';
import type { OpenFile, Store } from '../../shared/storage/store.ts';
import { ArchiveWriter, DamagedEntry } from './archive-writer.ts';
import { timePhase } from './build-observer.ts';
import type { BuildObserver } from './build-observer.ts';
import { findFiles } from './resolve-files.ts';
import type { FileSearch } from './resolve-files.ts';
import { createManifest } from './manifest.ts';
import { isMissing, openFound } from './outcome.ts';
import type { FoundFile, Missing, Outcomes } from './outcome.ts';
import { emptyFolder, jsonFile, keepOwnFile } from './own-files.ts';
import type { OwnFile } from './own-files.ts';
import type { ExportPlan } from './plan.ts';
import { checkFormat, openProfile } from './profiles/open-profile.ts';
import type { ArchiveProfile } from './profiles/profile.ts';
import { readAhead } from './read-ahead.ts';
import { contentDigest, recordArchive } from './record.ts';

/** Files opened before their turn: opening takes as long as reading a picture does. */
const filesAhead = 4;

export interface ExportDependencies {
  db: Database;
  store: Store;
  downloader: Downloader;
  coordination: Coordination;
  /** Removes files that can be made or downloaded again, for so many bytes; for when the store is full. */
  makeRoom?: (bytes: number) => Promise<unknown>;
  observer?: BuildObserver;
  config: Pick<Config, 'export' | 'download'>;
}

/**
 * Builds a published version's archive into the store, unless it is there. Files are downloaded in parallel and
 * written, in the archive's order, while others still arrive; memory does not grow with their sizes.
 *
 * A file that cannot be had never fails the export: manifest.json names it, and the archive is stored as incomplete.
 * A complete archive has a record: built again, it is the same byte for byte, unless an external file had to be
 * downloaded again and is another one now.
 *
 * @throws {JobOfOtherRelease} for a job that only workers of another release can build.
 * @throws {LecternError} NOT_FOUND when the version is not published any more; INVALID_CONTENT when its content is
 * missing or the archive would be over the limit. Any other error may pass: the job may be tried again.
 */
export async function buildArchive(
  deps: ExportDependencies,
  job: ExportJob,
  { signal, onProgress }: { signal: AbortSignal; onProgress: (progress: ExportProgress) => void },
): Promise<ExportResult> {
  const { db, observer } = deps;
  checkFormat(job);
  const planned = timePhase(observer, 'plan');
  const version = await findPublishedVersion(db, job.organizationId, job.lessonId, job.versionId);
  // Published anew since, it is another archive, with a job of its own.
  if (version === null || exportJobOf(version, job.profile).key !== job.key) {
    throw new LecternError('NOT_FOUND', 'Published version not found');
  }
  const profile = await openProfile(job);
  const { plan, lesson } = await planWithLesson(db, version, profile);

  const record = await findExportRecord(db, job.key);
  const otherBytes = lesson.digest.size + profile.knownBytes;
  planned();
  const found = timePhase(observer, 'files');
  const search = await findFiles(deps, {
    plan,
    otherBytes,
    record,
    organizationId: job.organizationId,
    signal,
  });
  void search.done.then(found);
  try {
    return await writeArchive(deps, {
      job,
      profile,
      version,
      plan,
      lesson,
      record,
      search,
      signal,
      onProgress,
    });
  } finally {
    await search.end();
  }
}

/** The content's objects are gone after this, while files come: they take several times the memory of its text. */
async function planWithLesson(
  db: Database,
  version: LessonVersion,
  profile: ArchiveProfile,
): Promise<{ plan: ExportPlan; lesson: OwnFile }> {
  const content = await findContent(db, version._id);
  if (content === null) throw new LecternError('INVALID_CONTENT', 'The content of this version is missing.');
  const plan = await profile.plan(db, version, content);
  const paths = new Map(plan.media.map(({ id, path }) => [id, `./${path}`]));
  const published = { ...content, lesson: { ...content.lesson, status: 'published' } };
  const lesson = await jsonFile('lesson.json', published, (part) =>
    rewriteMediaReferences(part, (id) => paths.get(id) ?? `./media/${id}.bin`),
  );
  return { plan, lesson };
}

interface ArchiveInput {
  job: ExportJob;
  profile: ArchiveProfile;
  version: LessonVersion;
  plan: ExportPlan;
  /** lesson.json */
  lesson: OwnFile;
  /** Of an earlier build. */
  record: ExportRecord | null;
  search: FileSearch;
  signal: AbortSignal;
  onProgress: (progress: ExportProgress) => void;
}

async function writeArchive(deps: ExportDependencies, input: ArchiveInput): Promise<ExportResult> {
  const { job, profile, version, plan, lesson, record, search, signal, onProgress } = input;
  const ended = timePhase(deps.observer, 'write');
  // Whether files are missing shows at the end only, and the key with it: the draft is named when it is published.
  const draft = await deps.store.archives.create();
  try {
    const folder = profileOf(job).rootFolder(version);
    const writer = new ArchiveWriter(draft, version.publishedAt ?? version.createdAt, folder);
    const { outcomes } = search;
    const total = search.paths.length + profile.fileCount;
    const progress: ExportProgress = { done: 0, total, bytes: 0 };
    const written: string[] = [];
    const neededAgain = profile.readsAgain(plan);
    const owned: EvictableFile[] = [];
    const add = async (path: string, file: FoundFile, chunks: AsyncIterable<Uint8Array>) => {
      await writer.add(path, file, chunks);
      written.push(path);
    };
    const step = (bytes: number) => {
      progress.done += 1;
      progress.bytes += bytes;
      onProgress({ ...progress });
    };

    const opened = readAhead(openings(deps.store, search), filesAhead, async (one) => one.file?.close());
    for await (const { path, found, file } of opened) {
      // From a store that answers slowly a file may come after the end.
      if (signal.aborted) await file?.close();
      signal.throwIfAborted();
      if (isMissing(found) || file === undefined) {
        step(0);
      } else {
        await addStored(deps.store, found, file, (chunks) => add(path, found, chunks)).catch(
          (error: unknown) => {
            search.abandon(error);
            throw error;
          },
        );
        if (!neededAgain.has(path)) search.letGo(found);
        step(found.size);
      }
    }
    const complete =
      plan.widgets.every(({ widget }) => widget !== null) && ![...outcomes.values()].some(isMissing);
    const addOwn = async (file: OwnFile) => {
      await keepOwnFile(deps.store, file);
      const found: FoundFile = { ...file.digest, area: 'cache' };
      await add(file.path, found, file.chunks());
      outcomes.set(file.path, found);
      owned.push(`cache:${found.sha256}`);
      step(found.size);
    };
    const asBefore = complete ? record : null;
    const empty = missingFolders(profile.folders, written, asBefore);
    progress.total += empty.length;
    for (const path of empty) await addOwn(emptyFolder(path));
    const parts = { store: deps.store, version, plan, lesson, search };
    for (const file of await profile.extraFiles(parts)) await addOwn(file);

    const content = contentDigest(entriesOf(written, outcomes));
    const exportedAt = complete ? await claimExportTime(deps.db, job.key, content) : new Date();
    const manifest = createManifest(version, plan, outcomes, exportedAt);
    for (const file of await profile.manifests(manifest, outcomes)) await addOwn(file);

    const archive = await writer.finish();
    ended();
    const published = timePhase(deps.observer, 'publish');
    signal.throwIfAborted();
    const exportKey = complete ? job.key : incompleteKey(job.key);
    const entries = entriesOf(written, outcomes);
    const built = { exportKey, contentDigest: content, exportedAt, archive, entries };
    if (complete) await recordArchive(deps.db, built, record);
    // Nothing is built from it; but its files can be fetched one by one.
    else await saveExportRecord(deps.db, built);
    await deps.coordination.usage.addOwner(job.organizationId, [`archives:${exportKey}`, ...owned]);
    // Whatever is missing now or is not any more: an older incomplete archive has had its time.
    await deps.store.archives.delete(incompleteKey(job.key));
    await (complete
      ? deps.coordination.incomplete.forget(job.key)
      : deps.coordination.incomplete.note(job.key));
    await draft.publish(exportKey, archive.sha256);
    published();
    const failures = manifest.failedMedia.length + manifest.failedWidgets.length;
    return { size: archive.size, files: written.length, failures };
  } finally {
    await draft.discard();
  }
}

/**
 * Returns the folders in which an archive has no file. Archives that were recorded before empty folders had entries
 * are rebuilt without them.
 */
function missingFolders(
  folders: ArchiveProfile['folders'],
  written: readonly string[],
  record: ExportRecord | null,
): ArchiveProfile['folders'] {
  const recorded = record && new Set(record.entries.map(({ path }) => path));
  return folders.filter(
    (folder) => !written.some((path) => path.startsWith(folder)) && (recorded?.has(folder) ?? true),
  );
}

/** In the order of the paths. */
function* entriesOf(paths: readonly string[], outcomes: Outcomes): Generator<ExportEntry> {
  for (const path of paths) {
    const found = outcomes.get(path);
    if (found === undefined || isMissing(found)) throw new Error(`${path} was written, and not found`);
    const { area, sha256, crc32, size, mimeType } = found;
    yield { path, area, sha256, crc32, size, ...(typeof mimeType === 'string' && { mimeType }) };
  }
}

interface OpenedFile {
  path: string;
  found: FoundFile | Missing;
  /** Undefined for one that is missing. */
  file?: OpenFile;
}

/**
 * For each file, in the archive's order, what opens it: however many an archive has, few are open. One that cannot be
 * opened ends the search at once: who reads ahead waits for what it has begun, and that for files to come.
 */
function* openings(store: Store, { paths, find, abandon }: FileSearch): Generator<() => Promise<OpenedFile>> {
  for (const path of paths) {
    yield async () => {
      const found = await find(path);
      if (isMissing(found)) return { path, found };
      try {
        return { path, found, file: await openFound(store, found) };
      } catch (error) {
        abandon(error);
        throw error;
      }
    };
  }
}

async function addStored(
  store: Store,
  found: FoundFile,
  file: OpenFile,
  add: (chunks: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  try {
    await add(file.chunks());
  } catch (error) {
    // A damaged copy of a download is not kept for the next try.
    if (found.area === 'cache' && error instanceof DamagedEntry) await store.cache.delete(found.sha256);
    throw error;
  } finally {
    await file.close();
  }
}
