import type { Config } from '../../shared/platform/config.ts';
import type { Downloader } from '../../shared/media/downloads/downloader.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { writeLessonTexts } from '../../shared/exports/lesson-texts.ts';
import type { LessonTexts } from '../../shared/exports/lesson-texts.ts';
import { exportJobOf, incompleteKey } from '../../shared/exports/jobs.ts';
import type { ExportJob, ExportProgress, ExportResult } from '../../shared/exports/jobs.ts';
import { profileOf } from '../../shared/exports/profiles.ts';
import type { Database } from '../../shared/models/database.ts';
import { claimExportTime, findExportRecord } from '../../shared/models/export-record.ts';
import type { ExportEntry, ExportRecord } from '../../shared/models/export-record.ts';
import { findContentParts } from '../../shared/models/lesson-content.ts';
import { findPublishedVersion } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { IncompleteBuilds } from '../../shared/exports/incomplete-builds.ts';
import type { Store } from '../../shared/storage/store.ts';
import { ArchiveWriter, DamagedEntry } from './archive-writer.ts';
import { timePhase } from './build-observer.ts';
import type { BuildObserver } from './build-observer.ts';
import { isFailure } from './file-outcomes.ts';
import type { FileFailure, Outcomes, ResolvedFile } from './file-outcomes.ts';
import type { FollowUps } from './follow-ups.ts';
import { compressedFile, emptyFolder } from './generated-files.ts';
import type { GeneratedFile } from './generated-files.ts';
import { keepDownloads } from './keep-downloads.ts';
import type { ArchiveWithDownloads } from './keep-downloads.ts';
import { createManifest } from './manifest.ts';
import { missingContent, ownTypesOf } from './plan.ts';
import type { ExportPlan } from './plan.ts';
import { checkProfile, openProfile } from './profiles/open-profile.ts';
import type { ArchiveProfile } from './profiles/profile.ts';
import { readAhead } from './read-ahead.ts';
import { addRecord, contentDigest, recordArchive } from './record.ts';
import { FileResolution } from './resolve-files.ts';
import type { ReadableFile } from './resolve-files.ts';

/** The number of files that are opened ahead of their turn. Opening a small file also reads it. */
const filesAhead = 6;

export interface BuildDependencies {
  db: Database;
  store: Store;
  downloader: Downloader;
  incomplete: Pick<IncompleteBuilds, 'record' | 'forget'>;
  observer?: BuildObserver;
  /** Keeps downloads after a build; without it, the build does so before it resolves. */
  followUps?: FollowUps;
  config: Pick<Config, 'export' | 'download'>;
}

interface BuildOptions {
  signal: AbortSignal;
  onProgress: (progress: ExportProgress) => void;
}

/**
 * Builds the archive of a published version into the store. Files are downloaded in parallel, and written in archive
 * order while others still arrive. Memory does not grow with their sizes.
 *
 * A missing file never fails the export: manifest.json names it, and the archive is stored as incomplete. A complete
 * archive has a record, and later builds equal it byte for byte, unless a changed external file had to be downloaded
 * again.
 *
 * @throws {JobOfOtherRelease} for a job that only workers of another release can build.
 * @throws {LecternError} NOT_FOUND when the version is no longer published; INVALID_CONTENT when its content is missing
 * or the archive would exceed the limit. Any other error may be temporary: the job may be retried.
 */
export async function buildArchive(
  deps: BuildDependencies,
  job: ExportJob,
  { signal, onProgress }: BuildOptions,
): Promise<ExportResult> {
  const { db, observer } = deps;
  checkProfile(job);
  const planned = timePhase(observer, 'plan');
  const version = await findPublishedVersion(db, job.organizationId, job.lessonId, job.versionId);
  // A version that was published again since then has another archive, with its own job.
  if (version === null || exportJobOf(version, job.profile, job.theme).key !== job.key) {
    throw new LecternError('NOT_FOUND', 'Published version not found');
  }
  const profile = await openProfile(job, deps.store);
  const { plan, lesson, texts } = await planWithLesson(db, version, profile, signal);

  const record = await findExportRecord(db, job.key);
  const otherBytes = lesson.digest.size + profile.knownBytes;
  planned();
  const resolved = timePhase(observer, 'files');
  const { organizationId } = job;
  const rereadPaths = profile.rereadPaths(plan);
  const files = new FileResolution(deps, { plan, rereadPaths, otherBytes, record, organizationId, signal });
  void files.done.then(resolved);
  const keep = async (archive: ArchiveWithDownloads, keeping: AbortSignal) => {
    await keepDownloads(deps.store, archive, keeping);
    await files.saveRecords();
  };
  try {
    const input = { job, profile, version, plan, lesson, texts, record, files, signal, onProgress };
    const { result, archive } = await writeArchive(deps, input);
    // A later build downloads what is not kept.
    if (deps.followUps === undefined) await keep(archive, signal).catch(() => undefined);
    else deps.followUps.run((keeping) => keep(archive, keeping));
    return result;
  } catch (error) {
    // The next attempt needs not download the files that are in the store.
    await files.saveRecords().catch(() => undefined);
    throw error;
  } finally {
    await files.close();
  }
}

async function planWithLesson(
  db: Database,
  version: LessonVersion,
  profile: ArchiveProfile,
  signal: AbortSignal,
): Promise<{ plan: ExportPlan; lesson: GeneratedFile; texts: LessonTexts }> {
  const plan = await profile.plan(db, version);
  const { withPage, maxStateCharacters } = profile;
  const paths = new Map(plan.media.map(({ id, path }) => [id, `./${path}`]));
  const request = { paths, ownTypes: ownTypesOf(plan), withPage, maxStateCharacters };
  const parts = await findContentParts(db, version._id);
  if (parts === null) throw missingContent();
  const texts = await writeLessonTexts(parts, version, request, signal);
  return { plan, texts, lesson: await compressedFile('lesson.json', texts.lesson) };
}

interface ArchiveInput extends BuildOptions {
  job: ExportJob;
  profile: ArchiveProfile;
  version: LessonVersion;
  plan: ExportPlan;
  /** lesson.json */
  lesson: GeneratedFile;
  texts: LessonTexts;
  /** The record of an earlier build. */
  record: ExportRecord | null;
  files: FileResolution;
}

async function writeArchive(
  deps: BuildDependencies,
  input: ArchiveInput,
): Promise<{ result: ExportResult; archive: ArchiveWithDownloads }> {
  const { job, profile, version, plan, lesson, texts, record, files, signal } = input;
  const { db, store, observer, incomplete } = deps;
  const written = timePhase(observer, 'write');
  // The key depends on whether files are missing, so the draft gets its name at publication.
  const draft = await store.archives.create();
  try {
    const folder = profileOf(job).rootFolder(version);
    const writer = new ArchiveWriter(draft, version.publishedAt ?? version.createdAt, folder);
    const entries = new EntryWriter(writer, store, files.outcomes, {
      total: files.paths.length + profile.fileCount,
      onProgress: input.onProgress,
    });
    await addResolvedFiles(entries, files, signal);

    const complete =
      plan.widgets.every(({ widget }) => widget !== null) && ![...files.outcomes.values()].some(isFailure);
    const emptyFolders = foldersWithoutFiles(profile.folders, entries.paths);
    entries.expect(emptyFolders.length);
    for (const path of emptyFolders) await entries.addGenerated(emptyFolder(path));
    for (const file of await profile.extraFiles({ store, version, plan, lesson, texts, files }))
      await entries.addGenerated(file);

    const content = contentDigest(entries.list());
    const { organizationId } = job;
    const wanted = record?.contentDigest === content ? record.exportedAt : new Date();
    const claim = { exportKey: job.key, contentDigest: content, exportedAt: wanted, organizationId };
    const exportedAt = complete ? await claimExportTime(db, claim) : new Date();
    const manifest = createManifest(version, plan, files.outcomes, exportedAt);
    for (const file of await profile.manifests(manifest, files.outcomes)) await entries.addGenerated(file);

    const archive = await writer.finish();
    written();
    const published = timePhase(observer, 'publish');
    signal.throwIfAborted();
    const exportKey = complete ? job.key : incompleteKey(job.key);
    const built = { ...claim, exportKey, exportedAt, archive, entries: entries.list() };
    if (complete) await recordArchive(deps, built, record);
    // No build uses the record of an incomplete archive, but export-manifest serves its files.
    else await addRecord(deps, built);
    // This archive replaces an older incomplete one.
    await store.archives.delete(incompleteKey(job.key));
    await (complete ? incomplete.forget(job.key) : incomplete.record(job.key));
    await draft.publish(exportKey, archive.sha256);
    published();
    const failures = manifest.failedMedia.length + manifest.failedWidgets.length;
    return {
      result: { size: archive.size, files: entries.paths.length, failures },
      archive: {
        exportKey,
        sha256: archive.sha256,
        folder,
        entries: () => [...entries.list()],
        heldPaths: files.heldPaths,
      },
    };
  } finally {
    await draft.discard();
  }
}

/** Writes entries into an archive and reports the progress. */
class EntryWriter {
  readonly #writer: ArchiveWriter;
  readonly #store: Store;
  readonly #outcomes: Outcomes;
  readonly #progress: ExportProgress;
  readonly #onProgress: (progress: ExportProgress) => void;
  /** The paths of the entries so far. */
  readonly paths: string[] = [];

  constructor(
    writer: ArchiveWriter,
    store: Store,
    outcomes: Outcomes,
    { total, onProgress }: { total: number; onProgress: (progress: ExportProgress) => void },
  ) {
    this.#writer = writer;
    this.#store = store;
    this.#outcomes = outcomes;
    this.#progress = { done: 0, total, bytes: 0 };
    this.#onProgress = onProgress;
  }

  /** Adds further files to the total of the progress. */
  expect(count: number): void {
    this.#progress.total += count;
  }

  /** Adds a file of the store. The caller reports it to {@link advance}. */
  async addStored(path: string, resolved: ResolvedFile, file: ReadableFile): Promise<void> {
    try {
      await this.#add(path, resolved, file.chunks(), file.isVerified);
    } catch (error) {
      // Deletes a damaged copy of a download, so that the next build downloads the file.
      if (resolved.area === 'cache' && error instanceof DamagedEntry)
        await this.#store.cache.delete(resolved.sha256);
      throw error;
    } finally {
      await file.close();
    }
  }

  async addGenerated(file: GeneratedFile): Promise<void> {
    const resolved: ResolvedFile = { ...file.digest, area: 'cache' };
    await this.#add(file.path, resolved, file.chunks());
    this.#outcomes.set(file.path, resolved);
    this.advance(resolved.size);
  }

  /** Reports one more file; a missing one has 0 bytes. */
  advance(bytes: number): void {
    this.#progress.done += 1;
    this.#progress.bytes += bytes;
    this.#onProgress({ ...this.#progress });
  }

  /** Yields the entries so far, in archive order. */
  *list(): Generator<ExportEntry> {
    for (const path of this.paths) {
      const resolved = this.#outcomes.get(path);
      if (resolved === undefined || isFailure(resolved))
        throw new Error(`${path} was written but cannot be found`);
      const { area, sha256, crc32, size, mimeType } = resolved;
      yield { path, area, sha256, crc32, size, ...(typeof mimeType === 'string' && { mimeType }) };
    }
  }

  async #add(
    path: string,
    resolved: ResolvedFile,
    chunks: AsyncIterable<Uint8Array>,
    isVerified = false,
  ): Promise<void> {
    await this.#writer.add(path, resolved, chunks, isVerified);
    this.paths.push(path);
  }
}

/** Adds media and widgets in archive order, as they arrive. */
async function addResolvedFiles(
  entries: EntryWriter,
  files: FileResolution,
  signal: AbortSignal,
): Promise<void> {
  const opened = readAhead(openings(files), filesAhead, async ({ file }) => file?.close());
  for await (const { path, outcome, file } of opened) {
    // A slow store may open a file after the build was stopped.
    if (signal.aborted) await file?.close();
    signal.throwIfAborted();
    if (isFailure(outcome) || file === undefined) {
      entries.advance(0);
      continue;
    }
    await entries.addStored(path, outcome, file).catch((error: unknown) => {
      files.abandon(error);
      throw error;
    });
    entries.advance(outcome.size);
  }
}

interface OpenedFile {
  path: string;
  outcome: ResolvedFile | FileFailure;
  /** Undefined for a missing file. */
  file?: ReadableFile;
}

/**
 * Yields a function for each file, in archive order, that opens it, so that few files are open at once. A file that
 * cannot be opened abandons the resolution at once: reading ahead waits for the files it has begun to open.
 */
function* openings(files: FileResolution): Generator<() => Promise<OpenedFile>> {
  for (const path of files.paths) {
    yield async () => {
      const outcome = await files.outcomeOf(path);
      if (isFailure(outcome)) return { path, outcome };
      try {
        const file = await files.open(path, outcome);
        return isFailure(file) ? { path, outcome: file } : { path, outcome, file };
      } catch (error) {
        files.abandon(error);
        throw error;
      }
    };
  }
}

/** Returns the folders of an archive that have no file. */
function foldersWithoutFiles(
  folders: ArchiveProfile['folders'],
  paths: readonly string[],
): ArchiveProfile['folders'] {
  return folders.filter((folder) => !paths.some((path) => path.startsWith(folder)));
}
