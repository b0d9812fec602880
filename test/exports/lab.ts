import { randomUUID } from 'node:crypto';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { onTestFinished } from 'vitest';
import { exportJobOf } from '../../shared/exports/jobs.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { holdFile } from '../fleet/held-file.ts';
import { ask, jsonOf } from '../support/answers.ts';
import type { AskOptions } from '../support/answers.ts';
import {
  buildOrganization,
  buildPackage,
  buildVersion,
  exportPath,
  statusPath,
} from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import { startOrigin } from '../support/origin.ts';
import { useStarted } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';
import { findExportRecord } from '../../shared/models/export-record.ts';
import { downloadExport, expectSameFiles } from './exports.ts';

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
export type ExportLab = Awaited<ReturnType<typeof startExportLab>>;

/** A status as the API returns it. */
export interface ReportedStatus {
  status: string;
  progress: { done: number; total: number; bytes: number };
}

/** @param settings over the defaults of tests; the origin's host joins the allowed ones. */
export async function startExportLab({
  LECTERN_ALLOWED_PRIVATE_HOSTS: hosts = '',
  ...settings
}: Record<string, string> = {}) {
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
    /** Publishes a version with these media files, by default none. */
    build: (...media: Buffer[]) => publish({ media: uploads(media) }),
    /** Publishes the same version with one more media file, the last in the archive, whose origin pauses in the middle. */
    async buildHeld(...media: Buffer[]) {
      const held = holdFile(Buffer.alloc(2000, 6));
      const path = `/${randomUUID()}.png`;
      origin.script(path, held.behavior);
      // Media are ordered by id.
      const last = { id: randomUUID().replace(/^.{8}/, 'ffffffff'), sourceUrl: origin.url(path) };
      const version = await publish({ media: [...uploads(media), last] });
      return { version, held: { ...held, path } };
    },
    /** Requests a version's archive, or another path of it. */
    get: request,
    /** Requests a version's archive with `Prefer: respond-async`. */
    begin: (version: Version, options: GetOptions = {}) =>
      request(version, { ...options, headers: { prefer: 'respond-async', ...options.headers } }),
    cancel: (version: Version) => request(version, { method: 'DELETE', pathOf: statusPath }),
    statusOf: async (version: Version) =>
      jsonOf(await request(version, { pathOf: statusPath })) as ReportedStatus,
    /** Opens the status as an event stream until the end of the test. */
    async openStream(version: Version, further: object = {}, from = api) {
      const asked = { ...headers, accept: 'text/event-stream', ...further };
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        get(from + statusPath(version), { headers: asked }, resolve).on('error', reject);
      });
      onTestFinished(() => void response.destroy());
      return response;
    },
    download: (version: Version, query = '') => downloadExport(api, version, headers, query),
    /** Downloads a version as archive and file by file, and asserts that both are equal. */
    downloadBoth: (version: Version, query = '') => expectSameFiles({ api, headers, query }, version),
    /** Evicts a version's archive, once its downloads are kept. */
    async evict(version: LessonVersion) {
      const { key } = exportJobOf(version);
      const record = await findExportRecord(harness.db, key);
      const downloads = record?.entries.filter(
        ({ path, area }) => area === 'cache' && /^media\/./.test(path),
      );
      await waitFor('the downloads in the cache', async () => {
        const kept = downloads?.map((entry) => harness.store.cache.has(entry)) ?? [];
        return (await Promise.all(kept)).every(Boolean);
      });
      await harness.store.archives.delete(key);
    },
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
