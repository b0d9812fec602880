import type { JsonObject, SessionRecord, StepPosition, StoredAnswer } from './session-record.ts';

/*
 * What the learner did, as facts that the server merges in any order: a newer fact replaces an older one about the same
 * thing. The functions of this file are pure: they use no clock, network or storage. Browsers store facts, so the fields
 * keep their names.
 */

/** An answer of the learner. */
export interface GivenAnswer {
  stepId: string;
  widgetId: string;
  answer: unknown;
  /** The widget's own result; both null without one. */
  score: number | null;
  maxScore: number | null;
  /** The number of tries so far; missing for the first one. */
  tries?: number;
}

/** What a fact says beside the position; nothing for the position alone. */
export interface FactContent {
  answer?: GivenAnswer;
  /** Whether the learner has not submitted the answer yet. It is sent when the page is hidden, or at the next visit. */
  isDraft?: true | undefined;
  variable?: { name: string; value: unknown };
  progressData?: JsonObject;
  completed?: true;
}

export interface Fact extends FactContent {
  id: string;
  /** Unix time in milliseconds, by the server's clock as far as the tab knew it. */
  at: number;
  attempt: number;
  versionId: string;
  /** The step that was shown. */
  position: StepPosition;
}

/** Returns the key of what a fact is about. Of two facts with one key, the newer one counts. */
export function keyOf({ attempt, answer, isDraft, variable, progressData, completed }: Fact): string {
  const about = answer
    ? [isDraft ? 'draft' : 'answer', answer.stepId, answer.widgetId]
    : variable
      ? ['variable', variable.name]
      : [progressData ? 'progressData' : completed ? 'completed' : 'position'];
  return JSON.stringify([attempt, ...about]);
}

/** Facts in one request. Once sent, a write stays as it is: its id tells the server that it is repeated. */
export interface Write {
  writeId: string;
  /** Of one attempt and one version; not empty. */
  facts: Fact[];
  /** The latest position that is known of the attempt in the version. */
  position: StepPosition;
  /** Milliseconds of active time, by the step's id. */
  stepTimes: Record<string, number> | undefined;
}

export interface WriteBody {
  versionId: string;
  attempt: number;
  writeId: string;
  ageMs: number;
  currentSectionIndex: number;
  currentStepIndex: number;
  progressData?: JsonObject;
  variableState?: JsonObject;
  items?: (Omit<GivenAnswer, 'score' | 'maxScore'> & { ageMs: number; score?: number; maxScore?: number })[];
  stepTimes?: Record<string, number>;
  completed?: true;
}

/** The server accepts 256 KiB. A character of JSON has at most three bytes. */
const maxWriteChars = 80 * 1024;
/** The server accepts 1,000 answers. */
const maxAnswers = 500;
/** All facts of a write but its answers have one age. */
const maxSpanMs = 2000;

/**
 * Returns the facts of the next request; none if there are none. Facts of earlier attempts come first, because the grade
 * of an attempt needs its answers.
 *
 * @param alone ids of facts that go alone, because the server has refused a write with them
 */
export function nextFacts(
  facts: readonly Fact[],
  alone: ReadonlySet<string>,
  maxChars = maxWriteChars,
): Fact[] {
  const ordered = inOrder(facts);
  const [first] = ordered;
  if (first === undefined || alone.has(first.id)) return ordered.slice(0, 1);
  const chosen: Fact[] = [];
  let chars = 0;
  let since: number | undefined;
  for (const fact of ordered) {
    const { attempt, versionId, at, answer, id } = fact;
    const isOther = attempt !== first.attempt || versionId !== first.versionId || alone.has(id);
    const isLater = answer === undefined && since !== undefined && at > since + maxSpanMs;
    if (isOther || isLater) continue;
    chars += JSON.stringify(fact).length;
    if (chosen.length > 0 && (chars > maxChars || chosen.length >= maxAnswers)) break;
    if (answer === undefined) since ??= at;
    chosen.push(fact);
  }
  return chosen;
}

/** Returns the body of a request. @param now the time of sending, by the same clock as the facts' */
export function bodyOf(
  { writeId, facts, position, stepTimes }: Write,
  record: SessionRecord,
  now: number,
): WriteBody {
  const rest = facts.filter(({ answer }) => answer === undefined);
  const { versionId, attempt, at } = newestOf(rest.length > 0 ? rest : facts);
  const items = facts.flatMap((fact) => {
    if (fact.answer === undefined) return [];
    const { score, maxScore, ...answer } = fact.answer;
    const points = score !== null && maxScore !== null && { score, maxScore };
    return [{ ...answer, ...points, ageMs: now - fact.at }];
  });
  const variables = rest.flatMap(({ variable }) =>
    variable ? [[variable.name, variable.value] as const] : [],
  );
  const progressData = rest.find((fact) => fact.progressData)?.progressData;
  return {
    ...{ versionId, attempt, writeId, ageMs: now - at },
    currentSectionIndex: position.sectionIndex,
    currentStepIndex: position.stepIndex,
    ...(progressData && { progressData: withVisited(progressData, attempt, record) }),
    ...(variables.length > 0 && { variableState: Object.fromEntries(variables) }),
    ...(items.length > 0 && { items }),
    ...(stepTimes && { stepTimes }),
    ...(rest.some(({ completed }) => completed) && { completed: true }),
  };
}

/** Returns the newest of some facts, of which there is at least one. */
export function newestOf(facts: readonly Fact[]): Fact {
  return inOrder(facts).at(-1) as Fact;
}

/** Returns the progress that the page shows: the record, with everything that it lacks yet. */
export function projected(record: SessionRecord, facts: readonly Fact[]): SessionRecord {
  return inOrder(facts).reduce(afterFact, record);
}

/** The position comes last, because it is noted with every other fact. */
function inOrder(facts: readonly Fact[]): Fact[] {
  const isPosition = ({ answer, variable, progressData, completed }: Fact) =>
    (answer ?? variable ?? progressData ?? completed) ? 0 : 1;
  return [...facts].sort((a, b) => a.attempt - b.attempt || a.at - b.at || isPosition(a) - isPosition(b));
}

function afterFact(record: SessionRecord, fact: Fact): SessionRecord {
  const { attempt, answer, variable, progressData, position, at } = fact;
  const status = fact.completed || record.status === 'completed' ? 'completed' : 'in_progress';
  if (attempt < record.attempt) return { ...record, status: fact.completed ? status : record.status };
  const before: SessionRecord =
    attempt > record.attempt
      ? { ...record, attempt, attemptCompleted: false, items: null, progressData: null, variableState: null }
      : record;
  return {
    ...before,
    status,
    versionId: fact.versionId,
    currentSectionIndex: position.sectionIndex,
    currentStepIndex: position.stepIndex,
    stepId: position.stepId,
    attemptCompleted: before.attemptCompleted || fact.completed === true,
    progressData: progressData ? withVisited(progressData, attempt, before) : before.progressData,
    variableState: variable
      ? { ...before.variableState, [variable.name]: variable.value }
      : before.variableState,
    items: answer
      ? withAnswer(before.items ?? [], { ...answer, answeredAt: new Date(at).toISOString() })
      : before.items,
  };
}

/** Returns a record's progress data with the visits of another record; null if it has them. */
export function withVisitsOf(other: SessionRecord, record: SessionRecord): JsonObject | null {
  const { progressData, attempt } = record;
  if (progressData === null || !Array.isArray(progressData.visited)) return null;
  const united = withVisited(progressData, attempt, other);
  return (united.visited as unknown[]).length > progressData.visited.length ? united : null;
}

/** Unites the visited steps, because each device may have seen others. */
function withVisited(data: JsonObject, attempt: number, record: SessionRecord): JsonObject {
  const visited = [record.progressData?.visited, data.visited].filter((list) =>
    Array.isArray(list),
  ) as unknown[][];
  if (visited.length < 2 || record.attempt !== attempt) return data;
  return { ...data, visited: [...new Set(visited.flat())] };
}

/** Replaces the widget's answer at its index, or appends it. */
function withAnswer(items: readonly StoredAnswer[], given: StoredAnswer): StoredAnswer[] {
  const isSame = (item: StoredAnswer) => item.stepId === given.stepId && item.widgetId === given.widgetId;
  if (!items.some(isSame)) return [...items, given];
  return items.map((item) => (isSame(item) ? { ...item, ...given } : item));
}

/**
 * Returns the facts that a restart leaves: those of the last attempt that was finished, whose grade they may raise.
 *
 * @param saved the finished attempt that the server knows; 0 for none
 */
export function keptAtRestart(facts: readonly Fact[], saved: number): Fact[] {
  const finished = Math.max(saved, ...facts.map(({ completed, attempt }) => (completed ? attempt : 0)));
  return facts.filter(({ attempt }) => attempt === finished);
}

/**
 * Returns whether a record has something of another tab or device that this page does not show.
 *
 * @param onStep counts only answers of this step
 */
export function hasForeign(shown: SessionRecord, record: SessionRecord, onStep?: string): boolean {
  const partsOf = ({ attempt, attemptCompleted, items, variableState }: SessionRecord) => {
    const counted = (items ?? []).filter(({ stepId }) => onStep === undefined || stepId === onStep);
    return JSON.stringify([
      ...[attempt, attemptCompleted, Object.entries(variableState ?? {}).sort(byText)],
      counted.map(({ stepId, widgetId, answer }) => [stepId, widgetId, answer]).sort(byText),
    ]);
  };
  return partsOf(shown) !== partsOf(record);
}

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}
