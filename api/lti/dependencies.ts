import type { Redis } from 'ioredis';
import type { LtiKeys } from '../../shared/lti/keys.ts';
import type { PlatformClient } from '../../shared/lti/platform-requests.ts';
import type { Database } from '../../shared/models/database.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import type { RequestLimits } from '../http/request-limits.ts';
import type { PlayerReleases } from '../player/player-releases.ts';
import type { PlatformKeys } from './platform-keys.ts';
import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { FaultCode } from './faults.ts';

export interface LtiDependencies {
  config: Pick<Config, 'publicUrl' | 'redisPrefix' | 'download'>;
  secrets: Pick<Secrets, 'signing' | 'cookie' | 'asset'>;
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
  requestLimits: RequestLimits;
}

/** How a successful launch continued. */
export type LaunchOutcome = 'lesson' | 'lesson_untracked' | 'deep_linking' | 'asks_storage';

export class LaunchMetrics {
  readonly #launches: Counter<'outcome'>;

  constructor(registry: Registry) {
    this.#launches = new Counter({
      name: 'lectern_lti_launches_total',
      help: 'Launches of learning platforms: into a lesson, to choose lessons, or by the code of what is wrong.',
      labelNames: ['outcome'],
      registers: [registry],
    });
  }

  /** Counts a launch, or a rejected login. */
  launched(outcome: LaunchOutcome | FaultCode): void {
    this.#launches.inc({ outcome });
  }
}
