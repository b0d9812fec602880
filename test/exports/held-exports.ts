import { randomUUID } from 'node:crypto';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { holdFile } from '../fleet/held-file.ts';
import type { HeldFile } from '../fleet/held-file.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import type { BuiltMedium } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { startOrigin } from '../support/origin.ts';
import type { Origin } from '../support/origin.ts';

/** An API, and exports whose builds the test can pause. */
export interface ExportLab {
  harness: Harness;
  api: string;
  headers: { authorization: string };
  organization: Organization;
  origin: Origin;
  /** Creates a published version with these media, by default none. */
  build(...media: Buffer[]): Promise<LessonVersion>;
  /**
   * Creates the same version with one more media file, the last in the archive, whose origin
   * pauses in the middle.
   */
  buildHeld(...media: Buffer[]): Promise<{ version: LessonVersion; held: HeldFile & { path: string } }>;
  /** Stops the started processes and removes the written files. */
  close(): Promise<void>;
}

/** @param settings passed to `startHarness`. */
export async function startExportLab(settings: Record<string, string> = {}): Promise<ExportLab> {
  const origin = await startOrigin();
  const harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host, ...settings });
  const api = await harness.startApi();
  const { organization, headers } = await buildOrganization(harness);
  const build = async (media: BuiltMedium[]) =>
    buildVersion(harness, organization, (await buildPackage({ media })).path);
  const uploads = (media: Buffer[]) => media.map((bytes) => ({ bytes }));
  return {
    harness,
    api,
    headers,
    organization,
    origin,
    build: (...media) => build(uploads(media)),
    async buildHeld(...media) {
      const held = holdFile(Buffer.alloc(2000, 'held'));
      const path = `/${randomUUID()}.png`;
      origin.script(path, held.behaviour);
      // Media are ordered by id.
      const last = { id: randomUUID().replace(/^.{8}/, 'ffffffff'), sourceUrl: origin.url(path) };
      const version = await build([...uploads(media), last]);
      return { version, held: { ...held, path } };
    },
    async close() {
      await origin.close();
      await harness.close();
    },
  };
}
