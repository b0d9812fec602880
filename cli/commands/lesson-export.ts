import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { LecternError, messageOf } from '../../shared/errors.ts';
import { exportJobOf, incompleteKey } from '../../shared/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { StoredArchive } from '../../shared/storage/store.ts';
import { createDownloader } from '../../worker/export/download/downloader.ts';
import { runExport } from '../../worker/jobs/export.ts';
import { withContext } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { findLessonVersions, findVersionNumbered, latestPublished } from '../lessons.ts';
import { count, formatBytes, note, print } from '../output.ts';
import { exportProgressBar } from '../progress.ts';
import { countValue, uuidValue } from '../values.ts';

interface ExportOptions {
  version?: number;
  out: string;
  json?: boolean;
}

/** `lectern lesson export`: builds the archive in this process, with no queue and no worker. */
export function lessonExportCommand(): Command {
  return new Command('export')
    .description('write the ZIP of a published version to a file')
    .argument('<lesson-id>', '', uuidValue)
    .requiredOption('--out <file>', 'the ZIP to write')
    .option('--version <number>', 'the one published last when left out', countValue)
    .option('--json', 'print one JSON document')
    .action(async (lessonId: string, options: ExportOptions) => {
      const result = await withContext(async (context) => {
        const version = await findPublished(context, lessonId, options.version);
        const archive = await buildWithProgress(context, version);
        try {
          return { ...(await writeTo(options.out, archive)), size: archive.size, sha256: archive.sha256 };
        } finally {
          await archive.close();
        }
      });
      const text = `Wrote ${result.path} (${formatBytes(result.size)})\n  sha256 ${result.sha256}`;
      print({ json: result, text }, options);
    });
}

async function findPublished(
  { db }: CommandContext,
  lessonId: string,
  number?: number,
): Promise<LessonVersion> {
  const lesson = await findLessonVersions(db, lessonId);
  const version = number === undefined ? latestPublished(lesson) : findVersionNumbered(lesson, number);
  if (version?.status === 'published') return version;
  const which = number === undefined ? 'No version' : `Version ${number}`;
  throw new LecternError(
    'NOT_FOUND',
    `${which} of ${lesson.lesson.slug} is published. See: lectern lesson publish`,
  );
}

async function buildWithProgress(context: CommandContext, version: LessonVersion): Promise<StoredArchive> {
  const { db, store, config, signal } = context;
  const job = exportJobOf(version);
  const downloader = createDownloader(config.download);
  const bar = exportProgressBar(`${version.slug}-v${version.versionNumber}.zip`);
  try {
    const { failures } = await runExport({ db, store, downloader, config }, job, {
      signal,
      onProgress: (progress) => bar.update(progress),
    });
    bar.stop();
    if (failures > 0) {
      note(
        `warning: ${count(failures, 'file')} could not be had; see failedMedia and failedWidgets in manifest.json`,
      );
    }
  } finally {
    bar.stop();
    downloader.close();
  }
  const archive = (await store.archives.open(job.key)) ?? (await store.archives.open(incompleteKey(job.key)));
  if (archive === null)
    throw new LecternError('INTERNAL_ERROR', 'The archive left the store before it could be read.');
  return archive;
}

/** Writes beside the target and renames: the file is there whole, or as it was before. */
async function writeTo(out: string, archive: StoredArchive): Promise<{ path: string }> {
  const path = resolve(out);
  const temporary = `${path}.${randomUUID()}.part`;
  try {
    const handle = await open(temporary, 'wx');
    try {
      for await (const chunk of archive.chunks()) await handle.writeFile(chunk);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
    return { path };
  } catch (error) {
    await rm(temporary, { force: true });
    throw new LecternError('INTERNAL_ERROR', `Cannot write ${path}: ${messageOf(error)}`, { cause: error });
  }
}
