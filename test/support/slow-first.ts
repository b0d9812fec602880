import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Files that wait for timeouts, other processes or browsers, slowest first. */
const slowFiles = [
  'checks',
  'models/query-plans',
  'docs/commands',
  'fleet/full-disk',
  'cli/embedded-servers',
  'fleet/outages',
  'xapi/xapi',
  'player/embed-page/saving',
  'fleet/crashes',
  'embedded/sharing',
  'player/firefox',
  'player/embed-page/widgets',
  'lms/scorm-play',
  'player/embed-page/host',
  'cli/start',
  'fleet/worker-shutdown',
  'cli/failures',
  'fleet/shared-bucket',
];

/**
 * Starts the slowest files first, so that none of them runs alone at the end. Vitest sorts by the durations of the last
 * run, which a fresh clone does not have, and then by size.
 */
export default class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => {
      const index = slowFiles.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return index === -1 ? slowFiles.length : index;
    };
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}
