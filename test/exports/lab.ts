import { randomUUID } from 'node:crypto';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { holdFile } from '../fleet/held-file.ts';
import type { HeldFile } from '../fleet/held-file.ts';
import { ask, jsonOf } from '../support/answers.ts';
import type { Answer, AskOptions } from '../support/answers.ts';
import {
  buildOrganization,
  buildPackage,
  buildVersion,
  exportPath,
  statusPath,
} from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { startOrigin } from '../support/origin.ts';
import type { Origin } from '../support/origin.ts';
import { useStarted } from '../support/use.ts';
import { downloadExport, expectSameFiles } from './exports.ts';
import type { Export } from './exports.ts';
import type { SignedManifest } from '../../api/exports/present-export-manifest.ts';

type Version = Pick<LessonVersion, 'lessonId' | '_id'>;

interface GetOptions extends Omit<AskOptions, 'headers'> {
  /** Besides the organization's credentials. */
  headers?: Record<string, string>;
  /** Such as '?include=player'. */
  query?: string;
  /** The URL of another API of the same installation. */
  api?: string;
  pathOf?: (version: Version) => string;
}

/** A Lectern with an API, an organization that may export, and the origin of its media. */
export interface ExportLab {
  harness: Harness;
  api: string;
  headers: { authorization: string };
  organization: Organization;
  origin: Origin;
  /** Publishes a package. */
  publish(overrides?: Parameters<typeof buildPackage>[0]): Promise<LessonVersion>;
  /** Publishes a version with these media files, by default none. */
  build(...media: Buffer[]): Promise<LessonVersion>;
  /** Publishes the same version with one more media file, the last in the archive, whose origin pauses in the middle. */
  buildHeld(...media: Buffer[]): Promise<{ version: LessonVersion; held: HeldFile & { path: string } }>;
  /** Requests a version's archive, or another path of it. */
  get(version: Version, options?: GetOptions): Promise<Answer>;
  /** Requests a version's archive with `Prefer: respond-async`. */
  begin(version: Version, options?: GetOptions): Promise<Answer>;
  cancel(version: Version): Promise<Answer>;
  statusOf(version: Version): Promise<ReportedStatus>;
  /** Opens the status as an event stream until the end of the test. */
  openStream(version: Version, headers?: object, api?: string): Promise<IncomingMessage>;
  /** Downloads and unpacks a version's archive. */
  download(version: Version, query?: string): Promise<Export>;
  /** Downloads a version as archive and file by file, and asserts that both are equal. */
  downloadBoth(version: Version, query?: string): Promise<{ listed: SignedManifest; archive: Export }>;
  /** Removes a version's archive from the store. */
  evict(version: LessonVersion): Promise<void>;
  close(): Promise<void>;
}

/** A status as the API returns it. */
export interface ReportedStatus {
  status: string;
  progress: { done: number; total: number; bytes: number };
}

/** @param settings over the defaults of tests; the origin's host joins the allowed ones. */
export async function startExportLab({
  LECTERN_ALLOWED_PRIVATE_HOSTS: hosts = '',
  ...settings
}: Record<string, string> = {}): Promise<ExportLab> {
  const origin = await startOrigin();
  const allowed = [origin.host, ...(hosts === '' ? [] : [hosts])].join(',');
  const harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: allowed, ...settings });
  const api = await harness.startApi();
  const { organization, headers } = await buildOrganization(harness);
  const publish = async (overrides: Parameters<typeof buildPackage>[0] = {}) =>
    buildVersion(harness, organization, (await buildPackage(overrides)).path);
  const uploads = (media: Buffer[]) => media.map((bytes) => ({ bytes }));
  const request = (version: Version, { query = '', pathOf = exportPath, ...rest }: GetOptions = {}) => {
    const { api: from = api, headers: further, ...options } = rest;
    return ask(from + pathOf(version) + query, { ...options, headers: { ...headers, ...further } });
  };
  return {
    ...{ harness, api, headers, organization, origin, publish },
    build: (...media) => publish({ media: uploads(media) }),
    async buildHeld(...media) {
      const held = holdFile(Buffer.alloc(2000, 'held'));
      const path = `/${randomUUID()}.png`;
      origin.script(path, held.behavior);
      // Media are ordered by id.
      const last = { id: randomUUID().replace(/^.{8}/, 'ffffffff'), sourceUrl: origin.url(path) };
      const version = await publish({ media: [...uploads(media), last] });
      return { version, held: { ...held, path } };
    },
    get: request,
    begin: (version, options = {}) =>
      request(version, { ...options, headers: { prefer: 'respond-async', ...options.headers } }),
    cancel: (version) => request(version, { method: 'DELETE', pathOf: statusPath }),
    statusOf: async (version) => jsonOf(await request(version, { pathOf: statusPath })) as ReportedStatus,
    async openStream(version, further = {}, from = api) {
      const asked = { ...headers, accept: 'text/event-stream', ...further };
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        get(from + statusPath(version), { headers: asked }, resolve).on('error', reject);
      });
      onTestFinished(() => void response.destroy());
      return response;
    },
    download: (version, query = '') => downloadExport(api, version, headers, query),
    downloadBoth: (version, query = '') => expectSameFiles({ api, headers, query }, version),
    evict: (version) => harness.store.archives.delete(exportJobOf(version).key),
    async close() {
      await origin.close();
      await harness.close();
    },
  };
}

/** Starts a lab for the tests of a file, with a worker if they need one. */
export function useExportLab(
  settings: Record<string, string> | (() => Record<string, string>) = {},
  { worker = false } = {},
): ExportLab {
  return useStarted(
    async () => {
      const lab = await startExportLab(typeof settings === 'function' ? settings() : settings);
      if (worker) await lab.harness.startWorker();
      return lab;
    },
    (lab) => lab.close(),
  );
}
