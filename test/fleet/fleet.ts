import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Organization } from '../../shared/models/organization.ts';
import { buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { startOrigin } from '../support/origin.ts';
import type { Origin } from '../support/origin.ts';
import { publishLesson, requestExport } from './lessons.ts';
import type { Answer, PublishedLesson } from './lessons.ts';

/**
 * An installation without processes, an organization that may export, and the origin of its media.
 */
export interface Fleet {
  harness: Harness;
  origin: Origin;
  organization: Organization;
  /** Publishes a lesson with an external media file of each size, in bytes. */
  publish(sizes: number[]): Promise<PublishedLesson>;
  request(api: { address: string }, lesson: PublishedLesson): Promise<Answer>;
  /** Returns the store's files: visible archives, and files being written. */
  stored(): Promise<{ archives: string[]; temporaries: string[] }>;
  /** Returns the complete downloads. */
  cached(): Promise<string[]>;
}

/**
 * The test removes it at its end.
 * @param settings over the defaults of tests, named as in the environment.
 */
export async function startFleet(settings: Record<string, string> = {}): Promise<Fleet> {
  const origin = await startOrigin();
  onTestFinished(() => origin.close());
  const harness = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host, ...settings });
  onTestFinished(() => harness.close());
  const { organization, headers } = await buildOrganization(harness);
  const folder = join(harness.config.storeDir, 'v1');
  return {
    harness,
    origin,
    organization,
    publish: (sizes) => publishLesson(harness, organization, origin, sizes),
    request: ({ address }, lesson) => requestExport(address, lesson, headers),
    stored: async () => ({
      archives: await filesIn(join(folder, 'archives')),
      temporaries: await filesIn(join(folder, 'tmp')),
    }),
    cached: () => filesIn(join(folder, 'cache')),
  };
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}
