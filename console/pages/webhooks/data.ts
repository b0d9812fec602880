import type { Webhook } from '../../api-types.ts';
import type { Tone } from '../../kit/parts.tsx';

export type EventType = Webhook['events'][number];

/** The events in the order in which forms list them, by subject. */
export const eventGroups: readonly (readonly EventType[])[] = [
  ['progress.started', 'progress.updated', 'progress.scored', 'progress.completed'],
  ['lesson.published', 'lesson.unpublished'],
  ['export.ready', 'export.failed'],
  ['lti.grade.failed', 'learner.erased', 'webhook.disabled', 'xapi.paused'],
];

export const webhookTones: Record<Webhook['status'], Tone> = { active: 'good', disabled: 'warn' };
