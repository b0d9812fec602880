import type { Database } from '../models/database.ts';
import type { LessonVersion } from '../models/lesson-version.ts';
import type { LtiScore } from '../models/lti-score.ts';
import type { Webhook } from '../models/webhook.ts';
import type { XapiDestination } from '../models/xapi-destination.ts';
import type { EventSource } from './event-source.ts';

/** Versions that were published or unpublished. */
export function publicationSource(db: Database): EventSource<LessonVersion> {
  return {
    model: db.lessonVersions,
    fields: { lessonId: 1, versionNumber: 1 },
    read({ _id, organizationId, lessonId, versionNumber, events = [] }) {
      const data = { organizationId, lessonId, versionId: _id, versionNumber };
      return {
        events: events.map(({ id, at, type }) => ({
          ...{ type, key: `${_id}:${id}`, at, organizationId, lessonId, learnerId: null, data },
        })),
        published: { _id, ids: events.map(({ id }) => id) },
      };
    },
  };
}

/** Scores that Lectern no longer retries. */
export function gradeSource(db: Database): EventSource<LtiScore> {
  return {
    model: db.ltiScores,
    fields: { lessonId: 1, ltiUserId: 1, platformId: 1, contextId: 1 },
    read({ _id, organizationId, lessonId, ltiUserId, platformId, contextId, events = [] }) {
      const score = { organizationId, lessonId, ltiUserId, platformId, contextId, scoreId: _id };
      return {
        events: events.map(({ id, at, reason, status }) => ({
          ...{ type: 'lti.grade.failed', key: `${_id}:${id}`, at, organizationId, lessonId },
          learnerId: ltiUserId,
          data: { ...score, reason, httpStatus: status },
        })),
        published: { _id, ids: events.map(({ id }) => id) },
      };
    },
  };
}

/** Webhooks that Lectern disabled. */
export function webhookSource(db: Database): EventSource<Webhook> {
  return {
    model: db.webhooks,
    fields: { url: 1 },
    read({ _id, organizationId, url, events = [] }) {
      return {
        events: events.map(({ id, at, reason }) => ({
          ...{ type: 'webhook.disabled', key: `${_id}:${id}`, at, organizationId },
          ...{ lessonId: null, learnerId: null },
          data: { organizationId, webhookId: _id, url, reason },
        })),
        published: { _id, ids: events.map(({ id }) => id) },
      };
    },
  };
}

/** Destinations that Lectern paused. */
export function destinationSource(db: Database): EventSource<XapiDestination> {
  return {
    model: db.xapiDestinations,
    fields: { endpoint: 1 },
    read({ _id, organizationId, endpoint, events = [] }) {
      return {
        events: events.map(({ id, at, status }) => ({
          ...{ type: 'xapi.paused', key: `${_id}:${id}`, at, organizationId },
          ...{ lessonId: null, learnerId: null },
          data: { organizationId, destinationId: _id, endpoint, httpStatus: status },
        })),
        published: { _id, ids: events.map(({ id }) => id) },
      };
    },
  };
}
