import type { JsonObject, StepPosition, SessionRecord, StoredAnswer } from './session-record.ts';

/** An unsaved answer. */
export interface QueuedAnswer {
  widgetId: string;
  answer: unknown;
  /** The widget's own result; both null without one. */
  score: number | null;
  maxScore: number | null;
  /** The number of tries so far; missing for the first one. */
  tries?: number;
  /** Unix time in milliseconds, by the server's clock as far as this tab knows it. */
  at: number;
}

/**
 * A write to the session endpoint, without its revision. Its answers belong to its step, because a widget's id is unique
 * only in a step. Browsers store queued writes, so the fields keep their names.
 */
export interface QueuedWrite {
  /** A UUID, the idempotency key: the server applies a write once. */
  writeId: string;
  versionId: string;
  /** Its attempt; a restart begins the next one. Undefined with a server that does not count attempts. */
  attempt?: number | undefined;
  place: StepPosition;
  /** The time of its last change, as {@link QueuedAnswer.at}. */
  at: number;
  answers: readonly QueuedAnswer[];
  /** Null if unchanged, as are the variables. */
  progressData: JsonObject | null;
  /** All variables of the player. */
  variables: JsonObject | null;
  /** Names of the variables that this write sets. */
  setVariables: readonly string[];
  /** Milliseconds of active time, by the step's id. */
  stepTimes?: Record<string, number> | undefined;
  completed: boolean;
  restart: boolean;
  /** Whether it may have reached the server; it then stays as it is. */
  sent: boolean;
}

/** The time of a widget's last answer in a record. */
export type KnownAnswer = Pick<StoredAnswer, 'stepId' | 'widgetId' | 'answeredAt'>;

export interface WriteBody {
  versionId: string;
  revision: number;
  attempt?: number;
  writeId: string;
  after?: string;
  currentSectionIndex: number;
  currentStepIndex: number;
  progressData?: JsonObject;
  variableState?: JsonObject;
  items?: { widgetId: string; answer: unknown; score?: number; maxScore?: number; tries?: number }[];
  stepTimes?: Record<string, number>;
  completed?: true;
  restart?: true;
}

/** Returns the request body that saves a write on top of a record. */
export function bodyOf(write: QueuedWrite, record: SessionRecord): WriteBody {
  const { versionId, attempt, writeId, place, answers, stepTimes, completed, restart } = write;
  const progressData = progressDataAfter(write, record);
  const variableState = variablesAfter(write, record);
  return {
    versionId,
    revision: restart && hasBegun(attempt, record) ? record.revision - 1 : record.revision,
    ...(attempt !== undefined && { attempt }),
    writeId,
    currentSectionIndex: place.sectionIndex,
    currentStepIndex: place.stepIndex,
    ...(progressData && { progressData }),
    ...(variableState && { variableState }),
    ...(answers.length > 0 && {
      items: answers.map(({ widgetId, answer, score, maxScore, tries }) => ({
        widgetId,
        answer,
        ...(score !== null && maxScore !== null && { score, maxScore }),
        ...(tries !== undefined && { tries }),
      })),
    }),
    ...(stepTimes && { stepTimes }),
    ...(completed && { completed }),
    ...(restart && { restart }),
  };
}

/**
 * Returns whether the attempt of a restart has begun: with this restart, or on another device. Only the server knows.
 * For an earlier revision, it recognizes this restart by its idempotency key and reports a conflict with any other.
 */
function hasBegun(attempt: number | undefined, record: SessionRecord): boolean {
  return attempt !== undefined && record.attempt !== undefined && attempt <= record.attempt;
}

/** Returns the record after a write, except for the score, which only the server computes. */
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

/** Returns the progress that the player shows: the record with all unsaved writes. */
export function projected(record: SessionRecord, writes: readonly QueuedWrite[]): SessionRecord {
  return writes.reduce(afterWrite, record);
}

/** Returns the answers of a record that these writes replace. */
export function replacedAnswers(record: SessionRecord, writes: readonly QueuedWrite[]): KnownAnswer[] {
  const isReplaced = (item: StoredAnswer) =>
    writes.some(({ place: { stepId }, answers }) =>
      answers.some(({ widgetId }) => isSameWidget(item, { stepId, widgetId })),
    );
  return (record.items ?? [])
    .filter(isReplaced)
    .map(({ stepId, widgetId, answeredAt }) => ({ stepId, widgetId, answeredAt }));
}

/** Returns whether a write must keep its own position; a later write may include any other. */
export function needsOwnPosition({ answers, completed }: QueuedWrite): boolean {
  return answers.length > 0 || completed;
}

/**
 * Splits a rejected write, so that a faulty answer does not lose the others. The first split only removes the time on
 * steps. Returns null for a single change.
 */
export function split(write: QueuedWrite, newId: () => string): QueuedWrite[] | null {
  const { answers, progressData, variables, completed, restart } = write;
  const nothing = { answers: [], progressData: null, variables: null, setVariables: [] };
  const fresh = (fields: Partial<QueuedWrite>) => ({
    ...{ ...write, stepTimes: undefined, sent: false },
    ...fields,
    writeId: newId(),
  });
  if (write.stepTimes) return [fresh({})];
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
 * Returns the writes without superseded answers: another device answered the widget later, or this device's later
 * answer has already arrived.
 *
 * @param known answers of the record that the writes build on; they do not count as another device's
 * @param ours writes that the record may contain: these, and the one just saved
 */
export function rebased(
  writes: readonly QueuedWrite[],
  record: SessionRecord,
  known: readonly KnownAnswer[],
  ours: readonly QueuedWrite[] = writes,
): QueuedWrite[] {
  const stored = (record.items ?? []).map((item) => ({
    ...item,
    isKnown: known.find((other) => isSameWidget(other, item))?.answeredAt === item.answeredAt,
    /** The last of our writes that it may come from; -1 if it is another device's. */
    source: ours.reduce((last, write, index) => (mayHaveStored(write, item) ? index : last), -1),
  }));
  return writes.map((write) => {
    const index = ours.findIndex(({ writeId }) => writeId === write.writeId);
    const answers = write.answers.filter(({ widgetId, at }) => {
      const item = stored.find((other) => isSameWidget(other, { stepId: write.place.stepId, widgetId }));
      if (item === undefined) return true;
      return item.source < 0 ? item.isKnown || Date.parse(item.answeredAt) <= at : item.source <= index;
    });
    return { ...write, answers };
  });
}

/** Returns whether a write belongs to an attempt before the record's: it never changes a later one. */
export function isOfEarlierAttempt(
  { attempt }: Pick<QueuedWrite, 'attempt'>,
  record: Pick<SessionRecord, 'attempt'>,
): boolean {
  return attempt !== undefined && record.attempt !== undefined && attempt < record.attempt;
}

/**
 * Returns whether another device has begun the record's attempt: none of our sent writes belongs to it. The server
 * ignores writes of earlier attempts.
 */
export function isBegunElsewhere(
  writes: readonly QueuedWrite[],
  record: Pick<SessionRecord, 'attempt'>,
): boolean {
  const latest = writes.filter(({ sent }) => sent).at(-1) ?? writes[0];
  return latest !== undefined && isOfEarlierAttempt(latest, record);
}

/** Returns the first write with an answer or a completion of an attempt before the record's. */
export function findOutdatedWrite(
  writes: readonly QueuedWrite[],
  record: SessionRecord,
): QueuedWrite | undefined {
  return writes.find((write) => needsOwnPosition(write) && isOfEarlierAttempt(write, record));
}

/** Moves writes to the attempt of a record that another device has written, without their restarts. */
export function inAttemptOf(writes: readonly QueuedWrite[], record: SessionRecord): QueuedWrite[] {
  return writes
    .filter((write) => !isOfEarlierAttempt(write, record))
    .map((write) => ({ ...withoutRestart(write), attempt: write.attempt && record.attempt }));
}

/** A restart clears the record that the learner saw at that time, but no later changes of other devices. */
export function withoutRestart(write: QueuedWrite): QueuedWrite {
  return { ...write, restart: false };
}

/** Drops answers that a later write replaces, and writes that become superfluous. Sent writes stay as they are. */
export function compacted(writes: readonly QueuedWrite[]): QueuedWrite[] {
  const later = new Set<string>();
  let isLast = true;
  let dataIsLater = false;
  const kept = [...writes].reverse().flatMap((write) => {
    const { sent, place, restart, setVariables, progressData } = write;
    const keyOf = ({ widgetId }: QueuedAnswer) => `${place.stepId}\n${widgetId}`;
    const answers = sent ? write.answers : write.answers.filter((answer) => !later.has(keyOf(answer)));
    const isNeeded =
      isLast ||
      sent ||
      restart ||
      setVariables.length > 0 ||
      (progressData !== null && !dataIsLater) ||
      needsOwnPosition({ ...write, answers });
    for (const answer of answers) later.add(keyOf(answer));
    isLast = false;
    dataIsLater ||= progressData !== null;
    return isNeeded ? { ...write, answers } : [];
  });
  return kept.reverse();
}

function variablesAfter({ variables, setVariables, restart }: QueuedWrite, record: SessionRecord) {
  if (variables === null) return null;
  if (restart) return variables;
  const set = Object.fromEntries(setVariables.map((name) => [name, variables[name]]));
  return { ...variables, ...record.variableState, ...set };
}

/** Merges the visited steps, because each device may have seen others. */
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

/** Replaces the widget's answer at its index, or appends it. */
function withAnswer(items: StoredAnswer[], stepId: string, queued: QueuedAnswer): StoredAnswer[] {
  const { widgetId, answer, score, maxScore, at } = queued;
  const item = { stepId, widgetId, answer, score, maxScore, answeredAt: new Date(at).toISOString() };
  const index = items.findIndex((other) => isSameWidget(other, item));
  if (index < 0) return [...items, item];
  return items.map((other, at) => (at === index ? { ...other, ...item } : other));
}

/** Returns whether a stored answer may come from a sent write, whose response was lost. */
function mayHaveStored({ sent, place, answers }: QueuedWrite, item: StoredAnswer): boolean {
  const text = JSON.stringify(item.answer);
  return (
    sent &&
    place.stepId === item.stepId &&
    answers.some(({ widgetId, answer }) => widgetId === item.widgetId && JSON.stringify(answer) === text)
  );
}

function isSameWidget(
  a: Pick<StoredAnswer, 'stepId' | 'widgetId'>,
  b: Pick<StoredAnswer, 'stepId' | 'widgetId'>,
): boolean {
  return a.stepId === b.stepId && a.widgetId === b.widgetId;
}
