import { messageOf } from '../../shared/platform/errors.ts';
import { enqueuePrebuild } from '../../shared/exports/enqueue.ts';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { CommandContext } from '../installation/context.ts';
import { note } from '../terminal/output.ts';

/**
 * With EXPORT_PREBUILD, enqueues the archive build of a version that was just published. An unreachable Redis causes
 * only a warning: the first request for the archive builds it.
 */
export async function prebuildArchive(
  { config, redisUrl }: Pick<CommandContext, 'config' | 'redisUrl'>,
  version: LessonVersion,
): Promise<void> {
  if (!config.export.prebuild) return;
  const [{ ExportQueue }, { connectRedis }] = await Promise.all([
    import('../../shared/exports/queues.ts'),
    import('../../shared/platform/redis.ts'),
  ]);
  try {
    const redis = await connectRedis(redisUrl);
    const queue = new ExportQueue(redis, config);
    try {
      await enqueuePrebuild(queue, exportJobOf(version));
    } finally {
      await queue.close();
      redis.disconnect();
    }
  } catch (error) {
    note(`warning: the archive is not prebuilt: ${messageOf(error)}`);
  }
}
