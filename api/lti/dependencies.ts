import type { Redis } from 'ioredis';
import type { LtiKeys } from '../../shared/lti/keys.ts';
import type { PlatformClient } from '../../shared/lti/platform-requests.ts';
import type { Database } from '../../shared/models/database.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import type { LargeTexts } from '../http/large-texts.ts';
import type { PlayerReleases } from '../player/player-releases.ts';
import type { LaunchMetrics } from './launch-metrics.ts';
import type { OutboxSignal } from './outbox-signal.ts';
import type { PlatformKeys } from './platform-keys.ts';

export interface LtiDependencies {
  config: Config;
  secrets: Secrets;
  db: Database;
  redis: Redis;
  player: Pick<PlayerReleases, 'name'>;
  lti: {
    client: PlatformClient;
    /** Lectern's own keys. */
    keys: LtiKeys;
    platformKeys: PlatformKeys;
    launches: LaunchMetrics;
  };
  outboxSignal: OutboxSignal;
  largeTexts: LargeTexts;
}
