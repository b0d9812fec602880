import type { JsonObject, Place, SessionRecord, StoredAnswer } from './session-record.ts';

/** An answer that waits to be saved. */
export interface QueuedAnswer {
  widgetId: string;
  answer: unknown;
  /** As the widget claims; both null when it claims nothing. */
  score: number | null;
  maxScore: number | null;
  /** Unix time in milliseconds, by the server's clock as far as it is known. */
  at: number;
}

/**
 * One write to the session address, without its revision. The answers in it belong to its step, for a widget's id
 * is unique in a step only.
 */
export interface QueuedWrite {
  /** A UUID, by which the server knows the write again. */
  writeId: string;
  versionId: string;
  /** The attempt that it belongs to; of a restart the one that it begins. Undefined where nobody counts them. */
  attempt?: number | undefined;
  place: Place;
  /** Of the last change in it, as {@link QueuedAnswer.at}. */
  at: number;
  answers: readonly QueuedAnswer[];
  /** Null where nothing was changed; so with the variables. */
  progressData: JsonObject | null;
  /** All variables, as the player had them. */
  variables: JsonObject | null;
  /** Names of those that were set in this write: the others are no news. */
  setVariables: readonly string[];
  completed: boolean;
  restart: boolean;
  /** Whether it may have reached the server. From then on it is not added to. */
  sent: boolean;
}

/** When a widget was answered last, as a record has it. */
export type KnownAnswer = Pick<StoredAnswer, 'stepId' | 'widgetId' | 'answeredAt'>;

/** The body of a write. */
export interface WriteBody {
  versionId: string;
  revision: number;
  attempt?: number;
  writeId: string;
  currentSectionIndex: number;
  currentStepIndex: number;
  progressData?: JsonObject;
  variableState?: JsonObject;
  items?: { widgetId: string; answer: unknown; score?: number; maxScore?: number }[];
  completed?: true;
  restart?: true;
}

/** The body that saves a write on top of a record. */
export function bodyOf(write: QueuedWrite, record: SessionRecord): WriteBody {
  const { versionId, attempt, writeId, place, answers, completed, restart } = write;
  const progressData = progressDataAfter(write, record);
  const variableState = variablesAfter(write, record);
  return {
    versionId,
    revision: restart && isBegun(attempt, record) ? record.revision - 1 : record.revision,
    ...(attempt !== undefined && { attempt }),
    writeId,
    currentSectionIndex: place.sectionIndex,
    currentStepIndex: place.stepIndex,
    ...(progressData && { progressData }),
    ...(variableState && { variableState }),
    ...(answers.length > 0 && {
      items: answers.map(({ widgetId, answer, score, maxScore }) => ({
        widgetId,
        answer,
        ...(score !== null && maxScore !== null && { score, maxScore }),
      })),
    }),
    ...(completed && { completed }),
    ...(restart && { restart }),
  };
}

/**
 * Whether the attempt of a restart has begun: by that restart, or on another device. Only the server can tell. For a
 * revision that is over, it knows its own restart again by its id and reports a conflict with any other.
 */
function isBegun(attempt: number | undefined, record: SessionRecord): boolean {
  return attempt !== undefined && record.attempt !== undefined && attempt <= record.attempt;
}

/** What the record will be after a write, as far as it can be known here; the points are left as they are. */
export function afterWrite(record: SessionRecord, write: QueuedWrite): SessionRecord {
  const { place, answers, completed, restart, at } = write;
  const kept = restart ? [] : (record.items ?? []);
  return {
    ...record,
    revision: record.revision + 1,
    ...(write.attempt !== undefined && { attempt: write.attempt }),
    versionId: write.versionId,
    status: completed || record.status === 'completed' ? 'completed' : 'in_progress',
    currentSectionIndex: place.sectionIndex,
    currentStepIndex: place.stepIndex,
    stepId: place.stepId,
    progressData: progressDataAfter(write, record) ?? (restart ? null : record.progressData),
    variableState: variablesAfter(write, record) ?? (restart ? null : record.variableState),
    items: answers.reduce((items, answer) => withAnswer(items, place.stepId, answer), kept),
    lastActivityAt: new Date(at).toISOString(),
  };
}

/** A learner's progress with everything in it that is not saved yet: what the player shows. */
export function projected(record: SessionRecord, writes: readonly QueuedWrite[]): SessionRecord {
  return writes.reduce(afterWrite, record);
}

/** Of the answers in a record, those that these writes replace. */
export function replacedAnswers(record: SessionRecord, writes: readonly QueuedWrite[]): KnownAnswer[] {
  const isReplaced = (item: StoredAnswer) =>
    writes.some(({ place: { stepId }, answers }) =>
      answers.some(({ widgetId }) => isSameWidget(item, { stepId, widgetId })),
    );
  return (record.items ?? [])
    .filter(isReplaced)
    .map(({ stepId, widgetId, answeredAt }) => ({ stepId, widgetId, answeredAt }));
}

/** Whether the write is of use only at its own place; else a later write may stand for it. */
export function holdsPlace({ answers, completed }: QueuedWrite): boolean {
  return answers.length > 0 || completed;
}

/**
 * A write that was refused, in smaller ones: one faulty answer is not to take others with it. Null when there is
 * nothing left to divide.
 */
export function divided(write: QueuedWrite, newId: () => string): QueuedWrite[] | null {
  const { answers, progressData, variables, completed, restart } = write;
  const nothing = { answers: [], progressData: null, variables: null, setVariables: [] };
  const fresh = (fields: Partial<QueuedWrite>) => ({ ...write, sent: false, ...fields, writeId: newId() });
  const half = Math.ceil(answers.length / 2);
  if (answers.length > 1) {
    const first = fresh({ ...nothing, answers: answers.slice(0, half), completed: false });
    return [first, fresh({ answers: answers.slice(half), restart: false })];
  }
  if (answers.length === 1 && (progressData !== null || variables !== null || completed)) {
    const first = fresh({ ...nothing, answers, completed: false });
    return [first, fresh({ answers: [], restart: false })];
  }
  if (variables !== null && (progressData !== null || completed || restart)) {
    const first = fresh({ variables: null, setVariables: [] });
    return [first, fresh({ ...nothing, variables, completed: false, restart: false })];
  }
  if (progressData !== null && (completed || restart)) {
    return [
      fresh({ progressData: null }),
      fresh({ ...nothing, progressData, completed: false, restart: false }),
    ];
  }
  return null;
}

/**
 * Writes without the answers that others have replaced meanwhile: those of a widget that has an answer of somebody
 * else, stored later than ours was given.
 *
 * @param known answers in the record that the writes were made on: nobody else gave those
 * @param ours writes that may be in the record: these ones, and what was saved right now
 */
export function rebased(
  writes: readonly QueuedWrite[],
  record: SessionRecord,
  known: readonly KnownAnswer[],
  ours: readonly QueuedWrite[] = writes,
): QueuedWrite[] {
  const foreign = (record.items ?? []).filter((item) => {
    const before = known.find((other) => isSameWidget(other, item));
    return before?.answeredAt !== item.answeredAt && !isOurs(item, ours);
  });
  return writes.map((write) => ({
    ...write,
    answers: write.answers.filter((answer) => {
      const place = { stepId: write.place.stepId, widgetId: answer.widgetId };
      const stored = foreign.find((item) => isSameWidget(item, place));
      return stored === undefined || Date.parse(stored.answeredAt) <= answer.at;
    }),
  }));
}

/** Whether a write belongs to an attempt that was over before the record's began: it never touches a later one. */
export function isOfEarlierAttempt(
  { attempt }: Pick<QueuedWrite, 'attempt'>,
  record: Pick<SessionRecord, 'attempt'>,
): boolean {
  return attempt !== undefined && record.attempt !== undefined && attempt < record.attempt;
}

/**
 * Whether another device has begun the record's attempt: none of our writes that may have reached the server belongs to
 * it. The server ignores writes of earlier attempts.
 */
export function isBegunElsewhere(
  writes: readonly QueuedWrite[],
  record: Pick<SessionRecord, 'attempt'>,
): boolean {
  const latest = writes.findLast(({ sent }) => sent) ?? writes[0];
  return latest !== undefined && isOfEarlierAttempt(latest, record);
}

/** The first of some writes with an answer, or the end, of an attempt that was over before the record's began. */
export function outdatedWrite(
  writes: readonly QueuedWrite[],
  record: SessionRecord,
): QueuedWrite | undefined {
  return writes.find((write) => holdsPlace(write) && isOfEarlierAttempt(write, record));
}

/** The writes that go on with a record that others have written: without restarts, all in its attempt. */
export function continued(writes: readonly QueuedWrite[], record: SessionRecord): QueuedWrite[] {
  return writes
    .filter((write) => !isOfEarlierAttempt(write, record))
    .map((write) => ({ ...withoutRestart(write), attempt: write.attempt && record.attempt }));
}

/** A restart clears what the learner saw when asking for it, not what came from elsewhere since. */
export function withoutRestart(write: QueuedWrite): QueuedWrite {
  return { ...write, restart: false };
}

/**
 * Leaves out answers that a later write replaces, and then the writes that are of no use any more. A write that may
 * have reached the server stays as it is.
 */
export function compacted(writes: readonly QueuedWrite[]): QueuedWrite[] {
  const later = new Set<string>();
  let isLast = true;
  let dataIsLater = false;
  const kept = writes.toReversed().flatMap((write) => {
    const { sent, place, restart, setVariables, progressData } = write;
    const keyOf = ({ widgetId }: QueuedAnswer) => `${place.stepId}\n${widgetId}`;
    const answers = sent ? write.answers : write.answers.filter((answer) => !later.has(keyOf(answer)));
    const isNeeded =
      isLast ||
      sent ||
      restart ||
      setVariables.length > 0 ||
      (progressData !== null && !dataIsLater) ||
      holdsPlace({ ...write, answers });
    for (const answer of answers) later.add(keyOf(answer));
    isLast = false;
    dataIsLater ||= progressData !== null;
    return isNeeded ? { ...write, answers } : [];
  });
  return kept.toReversed();
}

function variablesAfter({ variables, setVariables, restart }: QueuedWrite, record: SessionRecord) {
  if (variables === null) return null;
  if (restart) return variables;
  const set = Object.fromEntries(setVariables.map((name) => [name, variables[name]]));
  return { ...variables, ...record.variableState, ...set };
}

/** Another device may have seen steps that this one has not, and the other way round. */
function progressDataAfter({ progressData, restart }: QueuedWrite, record: SessionRecord) {
  if (progressData === null || restart || record.progressData === null) return progressData;
  const before = record.progressData;
  return {
    ...before,
    ...progressData,
    ...(Array.isArray(before.visited) &&
      Array.isArray(progressData.visited) && {
        visited: [
          ...new Set<unknown>([...(before.visited as unknown[]), ...(progressData.visited as unknown[])]),
        ],
      }),
    ...(before.completed === true && { completed: true }),
  };
}

/** The last answer counts, at the place of the first one. */
function withAnswer(items: StoredAnswer[], stepId: string, queued: QueuedAnswer): StoredAnswer[] {
  const { widgetId, answer, score, maxScore, at } = queued;
  const item = { stepId, widgetId, answer, score, maxScore, answeredAt: new Date(at).toISOString() };
  const index = items.findIndex((other) => isSameWidget(other, item));
  return index < 0 ? [...items, item] : items.with(index, { ...items[index], ...item });
}

/** Whether a stored answer is one of these writes that has arrived, though nobody told. */
function isOurs(item: StoredAnswer, writes: readonly QueuedWrite[]): boolean {
  const text = JSON.stringify(item.answer);
  return writes.some(
    ({ sent, place, answers }) =>
      sent &&
      place.stepId === item.stepId &&
      answers.some(({ widgetId, answer }) => widgetId === item.widgetId && JSON.stringify(answer) === text),
  );
}

function isSameWidget(
  a: Pick<StoredAnswer, 'stepId' | 'widgetId'>,
  b: Pick<StoredAnswer, 'stepId' | 'widgetId'>,
): boolean {
  return a.stepId === b.stepId && a.widgetId === b.widgetId;
}
