import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import type { FaultCode } from './faults.ts';

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
