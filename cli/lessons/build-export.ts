import { createDownloader } from '../../shared/media/downloads/downloader.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { incompleteKey } from '../../shared/exports/jobs.ts';
import type { ExportJob } from '../../shared/exports/jobs.ts';
import { connectOptionalRedis } from '../../shared/platform/redis.ts';
import { IncompleteBuilds } from '../../shared/exports/incomplete-builds.ts';
import type { StoredArchive } from '../../shared/storage/store.ts';
import { buildIfMissing } from '../../worker/exports/build-if-missing.ts';
import type { CommandContext } from '../installation/context.ts';
import { count, note } from '../terminal/output.ts';
import { fileProgressBar } from '../terminal/progress-bar.ts';

/**
 * Builds an archive in this process with a progress bar, and warns of missing files.
 *
 * @param options.name the label of the progress bar
 * @returns the archive, which the caller closes
 */
export async function buildWithProgress(
  { db, store, redisUrl, config, signal }: CommandContext,
  { job, name }: { job: ExportJob; name: string },
): Promise<StoredArchive> {
  const downloader = createDownloader(config.download);
  const redis = await connectOptionalRedis(redisUrl, note);
  const incomplete = new IncompleteBuilds(redis, config.redisPrefix);
  const bar = fileProgressBar(name);
  try {
    const { failures } = await buildIfMissing({ db, store, downloader, incomplete, config }, job, {
      signal,
      onProgress: (progress) => bar.update(progress),
    });
    bar.stop();
    if (failures > 0) {
      const files = count(failures, 'file');
      note(`warning: ${files} could not be downloaded; see failedMedia and failedWidgets in manifest.json`);
    }
  } finally {
    bar.stop();
    downloader.close();
    redis.disconnect();
  }
  const archive = (await store.archives.open(job.key)) ?? (await store.archives.open(incompleteKey(job.key)));
  if (archive !== null) return archive;
  throw new LecternError(
    'INTERNAL_ERROR',
    'Another process removed the archive before this command could read it. Run the command again.',
  );
}
