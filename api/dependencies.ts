import type { Redis } from 'ioredis';
import type { Config } from '../shared/platform/config.ts';
import type { Logger } from '../shared/platform/log.ts';
import type { ScoreQueue } from '../shared/lti/scores/queue.ts';
import type { Database } from '../shared/models/database.ts';
import type { ReadinessProbe } from '../shared/operations/checks.ts';
import type { PreparedLessons } from '../shared/player/prepared-lessons.ts';
import type { ExportQueue } from '../shared/exports/queues.ts';
import type { Secrets } from '../shared/platform/secrets.ts';
import type { Sharing } from '../shared/coordination/coordination.ts';
import type { Store } from '../shared/storage/store.ts';
import type { PlayerReleases } from './player/player-releases.ts';
import type { PlayerAssets } from './media/player-assets.ts';
import type { ArchiveRequestDependencies } from './exports/archive-requests.ts';
import type { LargeTexts } from './http/large-texts.ts';
import type { LtiDependencies } from './lti/dependencies.ts';
import type { ScoreNotices } from './lti/outbox-signal.ts';
import type { ApiMetrics } from './http/metrics.ts';
import type { RateLimits } from './http/middleware/rate-limit.ts';
import type { LearnerLines } from './player/learner-lines.ts';

/** What the application works with: open connections, and settings. */
export interface AppDependencies {
  config: Config;
  secrets: Secrets;
  db: Database;
  redis: Redis;
  store: Store;
  /** What other processes hear of the use of the store's files. */
  sharing: Sharing;
  lessons: PreparedLessons;
  /** The files that learners' browsers load, of this release and of others. */
  player: PlayerReleases;
  queue: ExportQueue;
  exports: ArchiveRequestDependencies;
  playerAssets: PlayerAssets;
  lti: LtiDependencies['lti'];
  scoreQueue: ScoreQueue;
  /** What hears of records whose scores a platform is to get. */
  scoreNotices: ScoreNotices;
  rateLimits: RateLimits;
  /** What one learner may take of this process, and one organization in work on large JSON texts. */
  learnerLines: LearnerLines;
  largeTexts: LargeTexts;
  metrics: ApiMetrics;
  readiness: ReadinessProbe;
  /** Aborted when the process is to end; with the error that clients who still wait are answered with. */
  stopping: AbortSignal;
  log: Logger;
}
