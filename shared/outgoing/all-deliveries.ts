import {
  dismissEventDeliveries,
  findDelivery,
  listDeliveries,
  resendDeliveries,
  statusOfDelivery,
} from '../models/delivery-list.ts';
import { eventKinds } from '../models/event-delivery.ts';
import type { DeliveryStatus, ListedDelivery } from '../models/delivery-list.ts';
import type { DeliveryAttempt } from '../models/event-delivery.ts';
import type { Database } from '../models/database.ts';
import { findScoresById, listScores } from '../models/lti-score.ts';
import type { LtiScore } from '../models/lti-score.ts';
import { dismissScores, retryScores } from '../models/lti-score-changes.ts';

/* One view of all deliveries: events for webhooks, xAPI statements, and grades. */

export const deliveryKinds = [...eventKinds, 'grade'] as const;
export type DeliveryKind = (typeof deliveryKinds)[number];

/** A delivery of any kind. */
export interface AnyDelivery {
  id: string;
  kind: DeliveryKind;
  /** The id of the webhook, the xAPI destination or the LTI platform. */
  targetId: string;
  /** The type of the event, the verb of the statement, or `score`. */
  type: string;
  status: DeliveryStatus;
  lessonId: string | null;
  learnerId: string | null;
  createdAt: Date;
  /** The last attempts, the oldest first. Grades have only the last failure or success, without its duration. */
  attempts: (Omit<DeliveryAttempt, 'milliseconds'> & { milliseconds: number | null })[];
}

/** Selects deliveries of an organization. */
export interface AnySelection {
  organizationId: string;
  kind?: DeliveryKind | undefined;
  targetId?: string | undefined;
  status?: DeliveryStatus | undefined;
  lessonId?: string | undefined;
  learnerId?: string | undefined;
}

/** The position of a delivery in the list. */
export interface DeliveryPosition {
  createdAt: Date;
  _id: string;
}

/** Returns deliveries, newest first. @param options.after the last one of the previous page. */
export async function listAllDeliveries(
  db: Database,
  { kind, ...selection }: AnySelection,
  { after, limit }: { after: DeliveryPosition | null; limit: number },
): Promise<AnyDelivery[]> {
  const ofEvents = kind === 'grade' ? [] : await listDeliveries(db, { ...selection, kind }, { after, limit });
  const { organizationId, targetId: platformId, status, lessonId, learnerId: ltiUserId } = selection;
  const scores = {
    organizationId,
    platformId,
    lessonId,
    ltiUserId,
    ...(status !== undefined && scoreFilters[status]),
  };
  const ofGrades =
    kind === undefined || kind === 'grade'
      ? await listScores(db, scores, { before: after ?? undefined, limit })
      : [];
  return [...ofEvents.map(fromEvent), ...ofGrades.map(fromScore)]
    .toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? -1 : 1))
    .slice(0, limit);
}

/** Sends deliveries of any status again. Returns the number of those that belong to the organization. */
export async function resendAny(
  db: Database,
  organizationId: string,
  ids: readonly string[],
): Promise<number> {
  const events = await resendDeliveries(db, { organizationId }, { ids });
  return events + (await retryScores(db, await ownScores(db, organizationId, ids)));
}

/** Dismisses waiting and failed deliveries, but only failed grades. Returns their number. */
export async function dismissAny(
  db: Database,
  organizationId: string,
  ids: readonly string[],
): Promise<number> {
  const events = await dismissEventDeliveries(db, { organizationId }, ids);
  const scores = await ownScores(db, organizationId, ids);
  await dismissScores(db, scores);
  return events + scores.length;
}

/** Returns a delivery of an organization; null if there is none. */
export async function findAnyDelivery(
  db: Database,
  organizationId: string,
  id: string,
): Promise<AnyDelivery | null> {
  const event = await findDelivery(db, { organizationId }, id);
  if (event !== null) return fromEvent(event);
  const [score] = await findScoresById(db, [id]);
  return score?.organizationId === organizationId ? fromScore(score) : null;
}

async function ownScores(db: Database, organizationId: string, ids: readonly string[]): Promise<string[]> {
  const found = await findScoresById(db, ids);
  return found.filter((score) => score.organizationId === organizationId).map(({ _id }) => _id);
}

const scoreFilters = {
  pending: { state: 'waiting' },
  failed: { state: 'failed' },
  delivered: { state: 'idle', isSent: true },
  dismissed: { state: 'idle', isSent: false },
} as const satisfies Record<DeliveryStatus, object>;

function fromEvent(delivery: ListedDelivery): AnyDelivery {
  const { _id: id, kind, targetId, type, lessonId, learnerId, createdAt, attempts } = delivery;
  const status = statusOfDelivery(delivery);
  return { id, kind, targetId, type, status, lessonId, learnerId, createdAt, attempts };
}

function fromScore(score: LtiScore): AnyDelivery {
  const { _id: id, platformId: targetId, lessonId, ltiUserId: learnerId, createdAt, sent, failure } = score;
  const attempts: AnyDelivery['attempts'] = [];
  if (sent !== null) {
    const { status, body: response } = sent.response;
    attempts.push({ at: sent.at, milliseconds: null, status, error: null, response });
  }
  if (failure !== null) {
    const { at, status, reason: error, body: response } = failure;
    attempts.push({ at, milliseconds: null, status, error, response });
  }
  const status = statusOfDelivery({ state: score.state, deliveredAt: sent?.at ?? null });
  return { id, kind: 'grade', targetId, type: 'score', status, lessonId, learnerId, createdAt, attempts };
}
