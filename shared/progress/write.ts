import { z } from 'zod';
import { LecternError } from '../platform/errors.ts';
import { arrayElements, objectMembers } from '../platform/json-text.ts';
import { quote } from '../lessons/json-values.ts';
import { maxTries } from './tries.ts';

const maxItems = 1000;
const maxPoints = 1000;
const maxStepTimeMs = 86_400_000;
const maxStepTimes = 5_000;
export const tooManyStepTimesText = `stepTimes must have at most ${maxStepTimes} members`;

const index = wholeNumber();
const points = z
  .number(`must be a number from 0 to ${maxPoints}`)
  .min(0, `must be a number from 0 to ${maxPoints}`)
  .max(maxPoints, `must be a number from 0 to ${maxPoints}`);
const uuid = z.guid('must be a UUID').toLowerCase();
/** The maximum number of attempts of a learner. */
export const maxAttempts = 1000;
const attemptFault = `must be a whole number from 1 to ${maxAttempts}`;
const age = z.number('must be a number').optional();
const stepTimeFault = `must be a number from 0 to ${maxStepTimeMs}`;
const stepTime = z.number(stepTimeFault).min(0, stepTimeFault).max(maxStepTimeMs, stepTimeFault);
const triesFault = `must be a whole number from 1 to ${maxTries}`;
const flag = z.literal(true, 'must be true or omitted').optional();

const itemSchema = z
  .strictObject(
    {
      stepId: z
        .string('must be a string')
        .optional()
        .meta({ description: 'The step of the block; by default that of the position.' }),
      widgetId: z
        .string('must be a string')
        .min(1, 'must not be empty')
        .max(255, 'must be at most 255 characters')
        .meta({ description: 'Id of a block of the step.' }),
      answer: z
        .unknown()
        .refine((answer) => answer !== undefined, 'is missing')
        .meta({ description: 'Any JSON value of at most 64 KiB.' }),
      score: points.optional().meta({
        description:
          'With maxScore: the share earned of the points that the lesson declares for a custom widget. Core widgets ' +
          'are scored by the server.',
      }),
      maxScore: points.optional().meta({ description: 'Points that could be earned. Requires score.' }),
      tries: z
        .int(triesFault)
        .min(1, triesFault)
        .max(maxTries, triesFault)
        .optional()
        .meta({
          description:
            'The number of tries so far, including this one. After a time offline, a player sends only the last ' +
            "answer to a question. If Lectern's own count is higher, that one stays.",
        }),
      ageMs: age.meta({ description: 'Milliseconds since the answer; by default the `ageMs` of the write.' }),
    },
    { error: objectFault },
  )
  .refine((item) => (item.score === undefined) === (item.maxScore === undefined), {
    error: 'must have both score and maxScore, or neither',
  })
  .refine(({ score = 0, maxScore = maxPoints }) => score <= maxScore, {
    error: 'must be at most maxScore',
    path: ['score'],
  })
  .meta({ override: { dependentRequired: { score: ['maxScore'], maxScore: ['score'] } } });

/** Fields with values that may be large: they stay text and are never parsed. */
const stateFields = new Set(['progressData', 'variableState']);

/** The body of a write. {@link parseProgressWrite} reads it, because parsing would change the JSON that was sent. */
export const progressWriteSchema = z.strictObject(
  {
    versionId: uuid.meta({
      description: 'The played version. It must have been published once, and may be unpublished by now.',
    }),
    attempt: z
      .int(attemptFault)
      .min(1, attemptFault)
      .max(maxAttempts, attemptFault)
      .optional()
      .meta({
        description:
          'The attempt that the write belongs to. A later attempt than the stored one begins it; a write of an earlier ' +
          'one changes nothing, except that `completed` sets the status. Defaults to the stored attempt.',
      }),
    writeId: uuid.optional().meta({
      description: 'An idempotency key: if a write gets no response, retry it with the same key.',
    }),
    ageMs: age.meta({
      description:
        "Milliseconds between the learner's last action and the request; 0 by default. Newer values win. An age over " +
        '90 days counts as 90 days, and so does a negative one.',
    }),
    currentSectionIndex: index.meta({ description: 'Zero-based, inside the version.' }),
    currentStepIndex: index.meta({ description: 'Zero-based, inside the section.' }),
    progressData: z
      .looseObject({}, 'must be an object or null')
      .nullable()
      .optional()
      .meta({ description: 'State for resuming. Omit it to keep it; null clears it.' }),
    variableState: z
      .looseObject({}, 'must be an object')
      .optional()
      .meta({ description: 'The lesson variables that have changed. Others keep their values.' }),
    items: z
      .array(itemSchema, 'must be an array')
      .max(maxItems, `must have at most ${maxItems} elements`)
      .optional()
      .meta({ description: 'New answers. Those to other widgets stay as they are.' }),
    stepTimes: z
      .record(z.string(), stepTime, 'must be an object')
      .optional()
      .meta({
        description:
          'Milliseconds that the learner was active on steps, by their ids, since the last write that had them. ' +
          'Statistics show the median of their sums.',
      }),
    completed: flag.meta({ description: 'The learner has finished the lesson, now or before.' }),
    restart: flag.meta({
      description: 'Begins the attempt after the stored one. Superfluous with `attempt`.',
    }),
  },
  { error: objectFault },
);

/** A player's report. JSON-valued fields are text, as they were sent. */
export interface ProgressWrite {
  /** In lower case, as is writeId. */
  versionId: string;
  /** Undefined for the stored attempt, or the one after it if `restart` is set. */
  attempt: number | undefined;
  /** The idempotency key. */
  writeId: string | undefined;
  ageMs: number;
  currentSectionIndex: number;
  currentStepIndex: number;
  /** JSON text of an object; null clears the stored value, undefined keeps it. */
  progressData: string | null | undefined;
  /** The changed variables, with their values as JSON text. */
  variables: { name: string; value: string }[];
  items: WrittenItem[];
  /** Milliseconds of active time to add, by the step's id. */
  stepTimes: Record<string, number>;
  completed: boolean;
  restart: boolean;
}

export interface WrittenItem {
  /** Undefined for the step of the position. */
  stepId?: string | undefined;
  widgetId: string;
  /** JSON text. */
  answer: string;
  /** The player's claim: both null, or `0 <= score <= maxScore`. */
  score: number | null;
  maxScore: number | null;
  /** The player's count of tries; if missing, only the server's own count matters. */
  tries?: number | undefined;
  /** Undefined for the age of the write. */
  ageMs?: number | undefined;
}

/**
 * Reads the body of a write.
 *
 * @param text JSON that is nested no deeper than `maxJsonDepth`
 * @throws {LecternError} INVALID_CONTENT for the first invalid field
 */
export function parseProgressWrite(text: string): ProgressWrite {
  const sources = text.trimStart().startsWith('{') ? objectMembers(text) : new Map<string, string>();
  assertFewMembers(sources);
  const parsed = progressWriteSchema.safeParse(sources.size === 0 ? JSON.parse(text) : valuesOf(sources));
  if (!parsed.success) throw invalid(firstFault(parsed.error));
  const { items = [], stepTimes = {}, ageMs = 0, completed, restart, progressData, ...rest } = parsed.data;
  const { versionId, attempt, writeId, currentSectionIndex, currentStepIndex } = rest;
  const itemSources = arrayElements(sources.get('items') ?? '[]');
  const variables = objectMembers(sources.get('variableState') ?? '{}');
  return {
    ...{ versionId, attempt, writeId, ageMs, currentSectionIndex, currentStepIndex, stepTimes },
    progressData: progressData === null ? null : sources.get('progressData'),
    variables: Array.from(variables, ([name, value]) => ({ name, value })),
    items: items.map(({ score = null, maxScore = null, ...item }, position) => {
      const answer = objectMembers(itemSources[position] ?? '{}').get('answer') ?? 'null';
      return { ...item, answer, score, maxScore };
    }),
    completed: completed === true,
    restart: restart === true,
  };
}

/** Checks counts before the schema, which spends half a second on 100,000 members. */
function assertFewMembers(sources: ReadonlyMap<string, string>): void {
  const unknown = [...sources.keys()].find((name) => !Object.hasOwn(progressWriteSchema.shape, name));
  if (unknown !== undefined) throw invalid(`Request body has an unknown field ${quote(unknown)}`);
  const stepTimes = sources.get('stepTimes') ?? '';
  if (stepTimes.startsWith('{') && objectMembers(stepTimes).size > maxStepTimes)
    throw invalid(tooManyStepTimesText);
}

function invalid(message: string): LecternError {
  return new LecternError('INVALID_CONTENT', message);
}

/** Parses the members that need checks. It only checks that a state is an object, because parsing it is slow. */
function valuesOf(sources: ReadonlyMap<string, string>): Record<string, unknown> {
  return Object.fromEntries(
    Array.from(sources, ([name, source]): [string, unknown] => {
      const isState = stateFields.has(name) && source.startsWith('{');
      return [name, isState ? {} : JSON.parse(source)];
    }),
  );
}

function wholeNumber() {
  const fault = 'must be a whole number of 0 or more';
  return z.int(fault).min(0, fault);
}

function objectFault(issue: z.core.$ZodRawIssue): string {
  if (issue.code !== 'unrecognized_keys') return 'must be an object';
  return `has an unknown field ${quote(issue.keys[0] ?? '')}`;
}

/** Returns a message such as "items[3].score must be at most maxScore". */
function firstFault({ issues: [issue] }: z.ZodError): string {
  const place = (issue?.path ?? [])
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .slice(1);
  return `${place || 'Request body'} ${issue?.message ?? 'is not valid'}`;
}
