import type { Delivery, DeliveryFailure } from '../deliveries/outbox.ts';
import type { EmbedProgress } from '../models/embed-progress.ts';
import type { DeliveryAttempt, EventDelivery } from '../models/event-delivery.ts';
import type { RecordKind } from '../models/learner-records.ts';
import type { LtiProgress } from '../models/lti-progress.ts';
import type { LtiScore, SentScore } from '../models/lti-score.ts';
import type { ProgressRecord } from '../models/progress-record.ts';
import { RawJson } from '../platform/raw-json.ts';
import { itemsJson, variablesJson } from '../progress/state.ts';
import type { FinishedAttempt, StoredAttributes, StoredItem, StoredVariable } from '../progress/state.ts';

/*
 * The fields of records that the export of a learner contains. The compiler requires an entry for a new field. The
 * export omits fields that coordinate processes, and the responses of receivers.
 */

type FieldOf<Value> = Value extends unknown ? keyof Value : never;
type ValueOf<Value, Field> = Value extends unknown
  ? Field extends keyof Value
    ? NonNullable<Value[Field]>
    : never
  : never;

/** For each field: whether the export contains it, or a function that returns the exported part. */
type Fields<Value> = {
  [Field in FieldOf<Value>]-?: boolean | ((value: ValueOf<Value, Field>) => unknown);
};

/** Selects the fields of a record. */
type Selector<Value> = (value: Value) => Record<string, unknown>;

/** Returns a function that selects fields, and omits fields that the list lacks. */
function fieldsOf<Value extends object>(fields: Fields<Value>): Selector<Value> {
  const rules = new Map(Object.entries<boolean | ((value: never) => unknown)>(fields));
  return (value) =>
    Object.fromEntries(
      Object.entries(value).flatMap(([name, content]) => {
        const rule = rules.get(name) ?? false;
        if (rule === false) return [];
        return [[name, rule === true || content === null ? content : rule(content as never)]];
      }),
    );
}

function each<Value>(present: (value: Value) => unknown): (values: readonly Value[]) => unknown[] {
  return (values) => values.map(present);
}

/** Longer texts become Buffers: see `readRecords`. */
const maxStringCharacters = 16 * 1024;

/** Includes JSON text without parsing it. */
function json(text: string): unknown {
  if (text === '') return text;
  return text.length > maxStringCharacters ? Buffer.from(text) : new RawJson(text);
}

function jsonOrNull(value: RawJson | null): unknown {
  return value && json(value.text);
}

/** Paths of receivers may contain secrets. */
export function originOf(url: string): string {
  return new URL(url).origin;
}

const ofProgress = {
  ...{ _id: false, organizationId: false, recentWriteIds: false },
  ...{ lessonId: true, versionId: true, revision: true, attempt: true, status: true, score: true },
  ...{ maxScore: true, sectionIndex: true, stepIndex: true, stepId: true, totalSteps: true },
  ...{ positionOrder: false, progressData: json, progressDataOrder: false, stepTimes: true },
  variables: (variables: readonly StoredVariable[]) => jsonOrNull(variablesJson(variables)),
  items: (items: readonly StoredItem[]) => jsonOrNull(itemsJson(items)),
  userAttributes: ({ text }: StoredAttributes) => json(text),
  ...{ startedAt: true, completedAt: true, lastActivityAt: true, erasedAt: false },
  finished: fieldsOf<FinishedAttempt>({ at: true, score: true, maxScore: true, isCurrent: true }),
  updateDueAt: false,
} satisfies Fields<ProgressRecord>;

const ofDelivery = {
  ...{ _id: false, leaseId: false, leaseUntil: false },
  ...{ state: true, tries: true, nextTryAt: true, failingSince: true, createdAt: true },
  failure: fieldsOf<DeliveryFailure>({ at: true, since: true, reason: true, status: true, body: false }),
} satisfies Fields<Delivery>;

const ofScore = { scoreGiven: true, scoreMaximum: true, finishedAt: true } as const;

const records: { [Kind in RecordKind]: Selector<RecordOf[Kind]> } = {
  progress: fieldsOf<EmbedProgress>({ ...ofProgress, learnerId: true }),
  ltiProgress: fieldsOf<LtiProgress>({
    ...{ ...ofProgress, gradeAskedAt: false },
    ...{ platformId: true, ltiUserId: true, contextId: true, courseId: true },
  }),
  grades: fieldsOf<LtiScore>({
    ...{ ...ofDelivery, organizationId: false, linkId: true, lessonId: true },
    ...{ platformId: true, ltiUserId: true, contextId: true, lastTimestamp: true, perhapsTaken: true },
    wanted: fieldsOf({ ...ofScore, revision: true }),
    sent: fieldsOf<SentScore>({
      ...{ ...ofScore, timestamp: true, at: true, lineItemUrl: originOf },
      response: fieldsOf({ status: true, body: false }),
    }),
  }),
  deliveries: fieldsOf<EventDelivery>({
    ...{ ...ofDelivery, organizationId: false, targetId: false, kind: true, type: true, lessonId: true },
    ...{ learnerId: true, platformId: true, eventAt: true, body: json, deliveredAt: true, expiresAt: true },
    attempts: each(
      fieldsOf<DeliveryAttempt>({
        ...{ at: true, status: true },
        ...{ milliseconds: false, error: false, response: false },
      }),
    ),
  }),
};

interface RecordOf {
  progress: EmbedProgress;
  ltiProgress: LtiProgress;
  grades: LtiScore;
  deliveries: EventDelivery;
}

/** Returns the exported part of a record; see `jsonPieces`. */
export function exportedFields(kind: RecordKind, record: Record<string, unknown>): Record<string, unknown> {
  return records[kind](record as never);
}
