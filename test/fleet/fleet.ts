import { randomUUID } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { startApi } from '../../api/start.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { parseConfig } from '../../shared/platform/config.ts';
import { createLogger } from '../../shared/platform/log.ts';
import { Shutdown } from '../../shared/platform/graceful-shutdown.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { startWorker } from '../../worker/start.ts';
import { takeApart } from '../exports/exports.ts';
import { ask } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import {
  buildOrganization,
  buildPackage,
  buildVersion,
  exportPath,
  unknownBytes,
} from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { file, startOrigin } from '../support/origin.ts';
import type { Origin } from '../support/origin.ts';
import { holdFile } from './held-file.ts';

/** Much longer than any step takes, so that a busy machine fails no test. */
export const longTimeoutMs = 30_000;

/** A lesson's file on the origin. */
export interface OriginFile {
  id: string;
  /** The path on the origin. */
  path: string;
  bytes: Buffer;
}

export interface PublishedLesson {
  version: LessonVersion;
  /** In archive order. */
  files: OriginFile[];
}

/** An API or a worker in the process of the test. */
export interface FleetServer {
  /** Such as http://127.0.0.1:40123. */
  address: string;
  /** The URL of its metrics and health checks, with METRICS_PORT or WORKER_PORT. */
  operations: string;
  /** Shuts it down gracefully. */
  stop(): Promise<void>;
}

export type Fleet = Awaited<ReturnType<typeof startFleet>>;

/**
 * Starts an installation with several APIs and workers, an organization that may export, and the origin of its media,
 * until the end of the test. processes.ts starts separate processes.
 *
 * @param settings over the defaults of tests, named as in the environment.
 */
export async function startFleet(settings: Record<string, string> = {}) {
  const origin = await startOrigin();
  onTestFinished(() => origin.close());
  const harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host, ...settings });
  onTestFinished(() => harness.close());
  const { organization, headers } = await buildOrganization(harness);
  const log = createLogger(harness.config, 'test');
  const folder = join(harness.config.storeDir, 'v1');
  const prepare = (changes: Record<string, string>) => {
    const config = parseConfig({ ...harness.environment, ...changes });
    const shutdown = new Shutdown(log, config.shutdownSeconds);
    onTestFinished(() => shutdown.close());
    const serverOf = (port: number | undefined, operations: number | undefined): FleetServer => ({
      address: `http://127.0.0.1:${port}`,
      operations: `http://127.0.0.1:${operations}`,
      stop: () => shutdown.close(),
    });
    return { config, options: { log, shutdown }, serverOf };
  };
  /** Publishes a lesson with an external media file of each size, in bytes. */
  const publish = (sizes: number[]) => publishLesson({ harness, organization, origin }, sizes);
  const request = ({ address }: { address: string }, { version }: Pick<PublishedLesson, 'version'>) =>
    ask(address + exportPath(version), { headers, signal: AbortSignal.timeout(3 * longTimeoutMs) });
  return {
    ...{ harness, origin, organization, publish, request },
    async startApi(changes: Record<string, string> = {}) {
      const { config, options, serverOf } = prepare(changes);
      const { port, metricsPort } = await startApi(config, harness.servers, options);
      return serverOf(port, metricsPort);
    },
    async startWorker(changes: Record<string, string> = {}) {
      const { config, options, serverOf } = prepare(changes);
      return serverOf(undefined, await startWorker(config, harness.servers, options));
    },
    /** Publishes a lesson whose last file the origin holds back on its first request. */
    async publishHeld(sizes: number[]) {
      const lesson = await publish(sizes);
      const last = lesson.files.at(-1);
      if (last === undefined) throw new Error('The lesson has no files');
      const held = holdFile(last.bytes);
      onTestFinished(() => held.release());
      origin.script(last.path, held.behavior, file(last.bytes));
      return { lesson, held, path: last.path };
    },
    /** Requests an archive until it is there, as a client with retries does. */
    async requestUntilReady(api: { address: string }, lesson: PublishedLesson) {
      await expect
        .poll(async () => (await request(api, lesson)).status, { timeout: longTimeoutMs })
        .toBe(200);
      await expectArchive(await request(api, lesson), lesson);
    },
    /** Returns the store's files: visible archives, and files being written. */
    stored: async () => ({
      archives: await filesIn(join(folder, 'archives')),
      temporaries: await filesIn(join(folder, 'tmp')),
    }),
    /** Returns the complete downloads. */
    cached: () => filesIn(join(folder, 'cache')),
  };
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

async function publishLesson(
  { harness, organization, origin }: { harness: Harness; organization: Organization; origin: Origin },
  sizes: number[],
): Promise<PublishedLesson> {
  const ids = sizes.map(() => randomUUID()).sort();
  const files = ids.map((id, index) => ({ id, path: `/${id}`, bytes: unknownBytes(sizes[index] ?? 0) }));
  for (const { path, bytes } of files) origin.serve(path, bytes);
  const type = { mimeType: 'application/pdf', extension: 'pdf' };
  const media = files.map(({ id, path }) => ({ id, sourceUrl: origin.url(path), ...type }));
  const built = await buildPackage({ media });
  return { version: await buildVersion(harness, organization, built.path), files };
}

/** Asserts that a response is a lesson's complete archive, with every file as on the origin. */
export async function expectArchive(answer: Answer, { files }: PublishedLesson): Promise<void> {
  expect(answer.status, answer.body.subarray(0, 200).toString()).toBe(200);
  const archive = await takeApart(answer.body);
  expect(archive.manifest.failedMedia).toEqual([]);
  const digests = new Map(archive.manifest.files.media.map(({ id, sha256 }) => [id, sha256]));
  for (const { id, bytes } of files) {
    expect(archive.files.get(`media/${id}.pdf`)?.equals(bytes), `the bytes of ${id}`).toBe(true);
    expect(digests.get(id)).toBe(digestOf(bytes).sha256);
  }
}

/** Asserts the export endpoint's 500 response with Retry-After. */
export function expectCleanFailure(answer: Answer): void {
  expect(answer.status).toBe(500);
  expect(JSON.parse(String(answer.body))).toMatchObject({
    code: 'INTERNAL_ERROR',
    message: 'An unexpected error occurred while generating the export',
  });
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(answer.headers.get('etag')).toBeNull();
}
