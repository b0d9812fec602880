import { Option } from 'commander';
import type { Command } from 'commander';
import { createDownloader } from '../../shared/downloads/downloader.ts';
import { LecternError } from '../../shared/errors.ts';
import { exportJobOf, incompleteKey, withPlayer } from '../../shared/jobs.ts';
import type { ExportProfile } from '../../shared/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { playerRelease } from '../../shared/player-release.ts';
import { connectFastRedis } from '../../shared/redis.ts';
import { createSharing } from '../../shared/sharing/sharing.ts';
import { trackUses } from '../../shared/sharing/tracked-store.ts';
import type { StoredArchive } from '../../shared/storage/store.ts';
import { runExport } from '../../worker/jobs/export.ts';
import { answers } from '../answers.ts';
import { withContext } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { findLessonVersions, findVersionNumbered, latestPublished } from '../lessons.ts';
import { count, formatBytes, note } from '../output.ts';
import { targetPath, writeWhole } from '../output-file.ts';
import { fileProgressBar } from '../progress.ts';
import { countValue, uuidValue } from '../values.ts';

interface ExportOptions {
  version?: number;
  out: string;
  include?: 'player';
}

/** `lectern lesson export`: builds the archive in this process, with no queue and no worker. */
export function addLessonExportCommand(group: Command): void {
  answers(
    group
      .command('export')
      .description('write the ZIP of a published version to a file')
      .argument('<lesson-id>', 'as lesson list shows it', uuidValue)
      .requiredOption('--out <file>', "the ZIP to write; in a folder it gets the archive's own name")
      .option('--version <number>', 'the one published last when left out', countValue)
      .addOption(
        new Option('--include <what>', 'with the player: unpack it, and open index.html').choices(['player']),
      ),
    (lessonId: string, options: ExportOptions) =>
      withContext(async (context) => {
        const version = await findPublished(context, lessonId, options.version);
        const name = `${version.slug}-v${version.versionNumber}.zip`;
        // Found first: nobody should wait for a long export to hear that it has no place.
        const path = await targetPath(options.out, name);
        const profile = options.include === undefined ? 'plain' : withPlayer((await playerRelease()).name);
        const archive = await buildWithProgress(context, version, { profile, name });
        try {
          await writeWhole(path, archive.chunks(), context.signal);
        } finally {
          await archive.close();
        }
        const { size, sha256 } = archive;
        const text = `Wrote ${path} (${formatBytes(size)})\n  sha256 ${sha256}`;
        return { json: { path, size, sha256 }, text };
      }),
  );
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
    `${which} of ${lesson.lesson.slug} is published. See: lectern lesson publish --help`,
  );
}

async function buildWithProgress(
  { db, store: plainStore, redisUrl, config, signal }: CommandContext,
  version: LessonVersion,
  { profile, name }: { profile: ExportProfile; name: string },
): Promise<StoredArchive> {
  const job = exportJobOf(version, profile);
  const downloader = createDownloader(config.download);
  const redis = await connectFastRedis(redisUrl);
  const sharing = createSharing(redis, config);
  const store = trackUses(plainStore, sharing.uses);
  const bar = fileProgressBar(name);
  try {
    const { failures } = await runExport({ db, store, downloader, sharing, config }, job, {
      signal,
      onProgress: (progress) => bar.update(progress),
    });
    bar.stop();
    if (failures > 0) {
      const files = count(failures, 'file');
      note(`warning: ${files} could not be had; see failedMedia and failedWidgets in manifest.json`);
    }
  } finally {
    bar.stop();
    downloader.close();
    sharing.uses.close();
    redis.disconnect();
  }
  const archive = (await store.archives.open(job.key)) ?? (await store.archives.open(incompleteKey(job.key)));
  if (archive !== null) return archive;
  throw new LecternError('INTERNAL_ERROR', 'The archive left the store before it could be read.');
}
