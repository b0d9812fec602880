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
const state = z.looseObject({}, 'must be an object or null').nullable().optional();
const attemptFault = 'must be a whole number of 1 or more';
const stepTimeFault = `must be a number from 0 to ${maxStepTimeMs}`;
const stepTime = z.number(stepTimeFault).min(0, stepTimeFault).max(maxStepTimeMs, stepTimeFault);
const triesFault = `must be a whole number from 1 to ${maxTries}`;
const flag = z.literal(true, 'must be true or omitted').optional();

const itemSchema = z
  .strictObject(
    {
      widgetId: z
        .string('must be a string')
        .min(1, 'must not be empty')
        .max(255, 'must be at most 255 characters')
        .meta({ description: 'Id of a block of the version; a block of the current step takes precedence.' }),
      answer: z
        .unknown()
        .refine((answer) => answer !== undefined, 'is missing')
        .meta({ description: 'Any JSON value. It replaces the previous answer.' }),
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
    revision: wholeNumber().meta({ description: 'The revision that was read.' }),
    attempt: z
      .int(attemptFault)
      .min(1, attemptFault)
      .optional()
      .meta({
        description:
          'The attempt that the write belongs to, as it was read; with `restart` the one that it begins. A write of an ' +
          'earlier attempt changes nothing. Defaults to the current attempt.',
      }),
    writeId: uuid.optional().meta({
      description: 'An idempotency key: if a write gets no response, retry it with the same key.',
    }),
    after: uuid.optional().meta({
      description:
        'The `writeId` of the write before this one, if its response is not known yet: `revision` is the one that it ' +
        'will create. If another device has created that revision, the response is 409.',
    }),
    currentSectionIndex: index.meta({ description: 'Zero-based, inside the version.' }),
    currentStepIndex: index.meta({ description: 'Zero-based, inside the section.' }),
    progressData: state.meta({ description: 'State for resuming. Omit it to keep it; null clears it.' }),
    variableState: state.meta({
      description: 'Values of the lesson variables. Omit them to keep them; null clears them.',
    }),
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
    completed: flag.meta({ description: 'Finishes the lesson; on its last step only.' }),
    restart: flag.meta({ description: 'Clears position, items and state before the rest is applied.' }),
  },
  { error: objectFault },
);

/** A player's report. JSON-valued fields are text, as they were sent. */
export interface ProgressWrite {
  /** In lower case, as are writeId and after. */
  versionId: string;
  /** Optimistic concurrency: the revision that the write builds on. */
  revision: number;
  /** Undefined for the current attempt. */
  attempt: number | undefined;
  /** The idempotency key: a repeated write with the same key changes nothing. */
  writeId: string | undefined;
  /** The id of the write that must have created the revision; undefined if any may have. */
  after: string | undefined;
  currentSectionIndex: number;
  currentStepIndex: number;
  /** JSON text of an object; null clears the stored value, undefined keeps it. The same applies to variableState. */
  progressData: string | null | undefined;
  variableState: string | null | undefined;
  items: WrittenItem[];
  /** Milliseconds of active time to add, by the step's id. */
  stepTimes: Record<string, number>;
  completed: boolean;
  restart: boolean;
}

export interface WrittenItem {
  widgetId: string;
  /** JSON text. */
  answer: string;
  /** The player's claim: both null, or `0 <= score <= maxScore`. */
  score: number | null;
  maxScore: number | null;
  /** The player's count of tries; if missing, only the server's own count matters. */
  tries?: number;
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
  const { versionId, revision, attempt, writeId, after, currentSectionIndex, currentStepIndex, ...rest } =
    parsed.data;
  const itemSources = arrayElements(sources.get('items') ?? '[]');
  return {
    versionId,
    revision,
    attempt,
    writeId,
    after,
    currentSectionIndex,
    currentStepIndex,
    progressData: rest.progressData === null ? null : sources.get('progressData'),
    variableState: rest.variableState === null ? null : sources.get('variableState'),
    items: (rest.items ?? []).map(({ widgetId, score = null, maxScore = null, tries }, position) => {
      const answer = objectMembers(itemSources[position] ?? '{}').get('answer') ?? 'null';
      return { widgetId, answer, score, maxScore, ...(tries !== undefined && { tries }) };
    }),
    stepTimes: rest.stepTimes ?? {},
    completed: rest.completed === true,
    restart: rest.restart === true,
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
