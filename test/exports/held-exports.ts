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

/** An API, and exports that are built as far as a test wants. */
export interface ExportLab {
  harness: Harness;
  api: string;
  headers: { authorization: string };
  organization: Organization;
  origin: Origin;
  /** A published version with these media, without any unless given. */
  build(...media: Buffer[]): Promise<LessonVersion>;
  /** The same with one medium more, the last in the archive, which its origin stops in the middle of. */
  buildHeld(...media: Buffer[]): Promise<{ version: LessonVersion; held: HeldFile & { path: string } }>;
  /** Ends what was started and removes what was written. */
  close(): Promise<void>;
}

/** @param settings as for `startHarness`. */
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
      // Media stand in the order of their ids.
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
