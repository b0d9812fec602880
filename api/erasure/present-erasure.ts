import { z } from 'zod';
import { erasureModes } from '../../shared/models/erasure.ts';
import { recordKinds } from '../../shared/models/learner-records.ts';
import type { RecordKind } from '../../shared/models/learner-records.ts';
import { count, time, uuid } from '../http/responses.ts';

export const erasureId = z
  .guid('Invalid erasure ID format')
  .toLowerCase()
  .meta({ description: 'Id of the erasure.' });

const descriptions: Record<RecordKind, string> = {
  progress: 'Progress records of an integrator’s learner.',
  ltiProgress: 'Progress records of a user of an LTI platform.',
  grades: 'Grades for the platform’s gradebook, sent or waiting.',
  deliveries: 'Webhook events and xAPI statements, sent or waiting, with the responses to them.',
};

/** Counts of records by kind. */
export const removedCounts = z.strictObject(
  Object.fromEntries(
    recordKinds.map((kind) => [kind, count.meta({ description: descriptions[kind] })]),
  ) as Record<RecordKind, typeof count>,
);

const downstream = z.strictObject({
  gradebooks: z
    .array(z.strictObject({ platformId: z.string(), issuer: z.string(), grades: count }))
    .meta({ description: 'Platforms that have accepted grades, and keep them.' }),
  recordStores: z
    .array(z.strictObject({ destinationId: uuid, endpoint: z.string() }))
    .meta({ description: 'Learning record stores that may have statements. xAPI cannot delete them.' }),
  webhooks: z.array(z.strictObject({ webhookId: uuid, url: z.string(), isNotified: z.boolean() })).meta({
    description: 'Webhooks that may have had events. Those with `isNotified` get `learner.erased`.',
  }),
});

export const erasurePreview = z
  .strictObject({ removed: removedCounts, downstream })
  .meta({ id: 'ErasurePreview' });

export const erasureBody = z
  .strictObject({
    id: uuid,
    mode: z.enum(erasureModes),
    state: z.enum(['removing', 'settling', 'finished']).meta({
      description: '`settling` lasts a minute: then Lectern removes what concurrent requests had written.',
    }),
    requestedAt: time,
    finishedAt: time.nullable(),
    removed: removedCounts,
    downstream: downstream.nullable().meta({ description: 'Null until the job has begun.' }),
  })
  .meta({ id: 'Erasure' });

export const examplePreview: z.input<typeof erasurePreview> = {
  removed: { progress: 3, ltiProgress: 0, grades: 0, deliveries: 12 },
  downstream: {
    gradebooks: [],
    recordStores: [],
    webhooks: [
      {
        webhookId: '0f5e3bb1-2c5e-4f0e-8d7c-2a9b1c3d4e5f',
        url: 'https://example.com/lectern',
        isNotified: true,
      },
    ],
  },
};

export const exampleErasure: z.input<typeof erasureBody> = {
  id: '6a1f0d52-3b6e-4a57-8c61-0a9a9d6f4e21',
  mode: 'erase',
  state: 'finished',
  requestedAt: '2026-11-21T09:14:31.027Z',
  finishedAt: '2026-11-21T09:15:33.412Z',
  ...examplePreview,
};
