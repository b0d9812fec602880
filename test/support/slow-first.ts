import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Files that wait for timeouts, other processes or browsers, slowest first. */
const slowFiles = [
  'checks',
  'models/query-plans',
  'fleet/outages',
  'player/embed-page/saving',
  'cli/embedded-servers',
  'lms/scorm-play',
  'docs/commands',
  'xapi/xapi',
  'fleet/crashes',
  'imports/bucket-imports',
  'embedded/sharing',
  'player/embed-page/widgets',
  'cli/start',
  'cli/failures',
  'lti/browser-play',
  'fleet/worker-shutdown',
  'player/embed-page/look',
  'player/embed-page/playing',
  'player/archive-page/archive-page',
  'exports/export-record',
  'player/embed-page/host',
  'player/firefox',
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
