import * as example from '../http/examples.ts';

/* Example values of webhooks for the OpenAPI document. */

const webhookId = '0b6f6a5e-9d1c-4b0e-8f6e-2d5b7a3c1e90';
const at = '2026-11-21T09:14:31.027Z';

export const secret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDazB2Pl2g6Ec=';

export const webhookRequest = {
  url: 'https://lms.example.com/hooks/lectern',
  events: ['progress.completed', 'progress.scored'],
  description: 'Grade book',
};

export const webhook = { id: webhookId, ...webhookRequest, status: 'active', createdAt: at } as const;

export const delivery = {
  id: 'evt_6c0f4f0d-6b9e-5d7a-9a3b-0a9f1c2d3e4f',
  type: 'progress.completed',
  status: 'delivered',
  attempts: [
    {
      at,
      milliseconds: 15_002,
      status: null,
      error: 'lms.example.com:443 did not respond within 15 s',
      response: null,
    },
    { at: '2026-11-21T09:14:51.530Z', milliseconds: 84, status: 204, error: null, response: '' },
  ],
};

export const queuedDelivery = { ...delivery, status: 'pending', attempts: [] };

const version = {
  organizationId: '6a1f0c9e-40d2-4f8b-9d55-8a3c2b1e7f60',
  lessonId: example.lessonId,
  versionId: example.versionId,
};

const progress = {
  source: 'embed',
  ...version,
  learnerId: example.learnerId,
  revision: 17,
  attempt: 1,
  status: 'completed',
  score: 12,
  maxScore: 13,
  completedAt: at,
};
const exported = { ...version, versionNumber: 3, profile: 'plain' };
const { organizationId, lessonId } = version;
const ltiUser = { ltiUserId: '8f2c1d', platformId: '0d5f1c7e-2f0b-4b5e-9a77-64a1f1d2c3b4' };

/** The data of an event, by type. */
export const eventData = {
  'progress.started': { ...progress, revision: 1, status: 'in_progress', score: null, completedAt: null },
  'progress.updated': { ...progress, revision: 9, status: 'in_progress', score: 4, completedAt: null },
  'progress.scored': { ...progress, revision: 5, status: 'in_progress', score: 2, completedAt: null },
  'progress.completed': progress,
  'lesson.published': { ...version, versionNumber: 3 },
  'lesson.unpublished': { ...version, versionNumber: 2 },
  'export.ready': { ...exported, bytes: 48_213_377, failures: 0 },
  'export.failed': { ...exported, error: 'INVALID_CONTENT: The lesson has no sections' },
  'lti.grade.failed': {
    ...{ organizationId, lessonId, ...ltiUser, contextId: 'geography-7' },
    scoreId: '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d',
    reason: 'refused',
    httpStatus: 403,
  },
  'learner.erased': { source: 'embed', organizationId, learnerId: example.learnerId },
  'xapi.paused': {
    organizationId,
    destinationId: '0d1f8a52-95b7-4c3a-8d0e-0c3f5a7b9e21',
    endpoint: 'https://lrs.example.com/xapi/',
    httpStatus: 401,
  },
  'webhook.disabled': { organizationId, webhookId, url: webhookRequest.url, reason: 'failing' },
  ping: { organizationId, webhookId },
};

export const eventTime = at;
