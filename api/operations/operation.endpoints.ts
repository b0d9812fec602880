import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { ExportQueue } from '../../shared/exports/queues.ts';
import { eventKinds } from '../../shared/models/event-delivery.ts';
import type { Database } from '../../shared/models/database.ts';
import { countScores } from '../../shared/models/lti-score.ts';
import { diagnose } from '../../shared/operations/diagnosis.ts';
import { readExportCounts } from '../../shared/operations/queue-metrics.ts';
import type { Config } from '../../shared/platform/config.ts';
import { readStoreLimits } from '../../shared/storage/store-limits.ts';
import type { Store } from '../../shared/storage/store.ts';
import { sessionAccess } from '../accounts/access.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { count, json } from '../http/responses.ts';

/* For operators with a session: the state of the installation. */

const common = {
  method: 'get',
  access: sessionAccess,
  scope: 'operator',
  errors: apiErrors(),
  tag: 'Operation',
} as const;

interface OperationDependencies {
  config: Config;
  db: Database;
  redis: Redis;
  store: Store;
  queue: ExportQueue;
}

const healthBody = z
  .strictObject({
    ok: z.boolean(),
    checks: z.array(
      z.strictObject({
        name: z.string(),
        ok: z.boolean(),
        version: z.string().nullable(),
        message: z.string().meta({ description: 'The finding; if it is not ok, followed by the remedy.' }),
      }),
    ),
  })
  .meta({ id: 'InstallationHealth' });

/** GET /api/operator/health */
export const getHealth = defineEndpoint(
  {
    ...common,
    path: '/api/operator/health',
    operationId: 'getInstallationHealth',
    summary: 'Check the installation',
    description: 'As `lectern doctor` does on its machine: servers, workers, store, receivers, grades.',
    responses: {
      200: json('The findings.', healthBody, {
        one: {
          value: {
            ok: true,
            checks: [{ name: 'Redis', ok: true, version: '7.0.15', message: 'it accepts writes' }],
          },
        },
      }),
    },
  },
  (deps: OperationDependencies) => async () => {
    const checks = await diagnose(deps);
    return { status: 200, body: { ok: checks.every(({ ok }) => ok), checks } };
  },
);

const jobs = {
  waiting: count,
  prebuild: count,
  active: count,
  active_prebuild: count,
  delayed: count,
  completed: count,
  failed: count,
};
const outbox = z.strictObject({ waiting: count, failed: count });
const queuesBody = z
  .strictObject({
    workers: count.meta({ description: 'Worker processes that take export jobs.' }),
    exports: z
      .strictObject(jobs)
      .meta({ description: 'Jobs by state. Pre-builds are exports that no request has asked for yet.' }),
    grades: outbox,
    webhook: outbox,
    xapi: outbox,
    board: z.string().meta({ description: 'The path of the queue board, which takes this session.' }),
  })
  .meta({ id: 'Queues' });

/** GET /api/operator/queues */
export const getQueues = defineEndpoint(
  {
    ...common,
    path: '/api/operator/queues',
    operationId: 'getQueues',
    summary: 'Count what waits',
    responses: {
      200: json('The counts.', queuesBody, {
        one: {
          value: {
            workers: 2,
            exports: {
              ...{ waiting: 3, prebuild: 12, active: 2, active_prebuild: 0 },
              ...{ delayed: 0, completed: 214, failed: 1 },
            },
            grades: { waiting: 0, failed: 2 },
            webhook: { waiting: 1, failed: 0 },
            xapi: { waiting: 0, failed: 0 },
            board: '/admin/queues',
          },
        },
      }),
    },
  },
  ({ db, queue }: OperationDependencies) =>
    async () => {
      const [workers, exports, { waiting, failed }, ...events] = await Promise.all([
        queue.countWorkers(),
        readExportCounts(queue),
        countScores(db),
        ...eventKinds.map(async (kind) => {
          const ofState = (state: 'waiting' | 'failed') => db.eventDeliveries.countDocuments({ kind, state });
          return [kind, { waiting: await ofState('waiting'), failed: await ofState('failed') }] as const;
        }),
      ]);
      return {
        status: 200,
        body: {
          ...{ workers, exports, grades: { waiting, failed } },
          ...(Object.fromEntries(events) as Record<(typeof eventKinds)[number], z.input<typeof outbox>>),
          board: '/admin/queues',
        },
      };
    },
);

const storageBody = z
  .strictObject({
    place: z.string().meta({ description: 'The folder or the bucket.' }),
    sizeBytes: count.nullable().meta({ description: 'Of the filesystem; null for a bucket.' }),
    freeBytes: count.nullable(),
    maxCopyBytes: count.nullable().meta({
      description: 'The limit of copies that can be made again: archives and downloads; null for none.',
    }),
  })
  .meta({ id: 'InstallationStorage' });

/** GET /api/operator/storage */
export const getInstallationStorage = defineEndpoint(
  {
    ...common,
    path: '/api/operator/storage',
    operationId: 'getInstallationStorage',
    summary: 'Read the room of the store',
    responses: {
      200: json('The figures.', storageBody, {
        folder: {
          value: {
            place: '/var/lib/lectern',
            ...{ sizeBytes: 500_000_000_000, freeBytes: 310_000_000_000 },
            maxCopyBytes: 250_000_000_000,
          },
        },
      }),
    },
  },
  ({ config, store }: OperationDependencies) =>
    async () => {
      const { place, sizeBytes, freeBytes } = await store.check();
      const { maxBytes } = await readStoreLimits(config, store);
      const maxCopyBytes = maxBytes === 0 ? null : maxBytes;
      return { status: 200, body: { place, sizeBytes, freeBytes, maxCopyBytes } };
    },
);

export const operationEndpoints = [getHealth, getQueues, getInstallationStorage] as const;
