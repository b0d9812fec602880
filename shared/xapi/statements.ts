import { createHmac } from 'node:crypto';
import type { RecordedAnswer, WriteEvent } from '../events/progress-events.ts';
import type { XapiVerb } from '../models/xapi-destination.ts';
import { uuidV5 } from '../platform/uuid.ts';
import { reachesMark, shareOf, shownPoints, shownShare } from '../progress/points.ts';
import type { Points } from '../progress/points.ts';
import { interactionKey } from './interactions.ts';
import type { Interaction, VersionText } from './interactions.ts';

/* Statements that are valid in xAPI 1.0.3 and 2.0.0. */

/** A learner's write, with all data for its statements. */
export interface StatementSubject {
  /** The ids of the statements follow from it. */
  writeId: string;
  /** The id of the learner's record. */
  recordId: string;
  lessonId: string;
  learnerId: string;
  /** Names the system that knows the learner: the LTI platform's issuer, or Lectern's public URL. */
  homePage: string;
  /** Lectern's public URL, without a trailing slash. Activity ids begin with it. */
  publicUrl: string;
  event: WriteEvent;
  text: VersionText;
}

/** The settings of a destination that affect its statements. */
export interface StatementOptions {
  verbs: readonly XapiVerb[];
  /** The salt of pseudonyms; null to send the learner's id. */
  salt: string | null;
  passingScore: number | null;
}

type Json = Record<string, unknown>;

export interface Statement extends Json {
  id: string;
}

const adl = 'http://adlnet.gov/expapi';
const progressExtension = 'https://w3id.org/xapi/cmi5/result/extensions/progress';

/** What differs between the statements about a write. */
interface About {
  name?: string;
  object?: Json;
  parent?: Json;
  result?: Json;
}

/** Yields the statements about a write with their verbs, in the order in which an LRS must get them. */
export function* statementsOf(
  subject: StatementSubject,
  options: StatementOptions,
): Generator<{ verb: XapiVerb; statement: Statement }> {
  const { event, text } = subject;
  const { details } = event;
  let place = 0;
  function* make(verb: XapiVerb, about: () => About = () => ({})) {
    const timestamp = timestampOf(event.at, place++);
    if (!options.verbs.includes(verb)) return;
    yield { verb, statement: { ...statementOf(subject, options, verb, about()), timestamp } };
  }
  if (details.began) yield* make('initialized');
  const titles = new Map(text.steps.map(({ id, title }) => [id, title]));
  for (const answer of details.answers) yield* make('answered', () => answered(subject, answer, titles));
  if (details.hasMoved) {
    const step = text.steps.findIndex(({ id }) => id === details.stepId);
    const position = details.finished ? text.steps.length : step;
    const percent =
      text.steps.length === 0 || step < 0 ? 0 : Math.round((100 * position) / text.steps.length);
    yield* make('progressed', () => ({ result: { extensions: { [progressExtension]: percent } } }));
  }
  if (!details.finished) return;
  const score = scoreOf(event, options.passingScore);
  const result = { completion: true, ...(score !== null && { score }) };
  yield* make('completed', () => ({ result }));
  for (const { verb, success } of judged(event, options))
    yield* make(verb, () => ({ result: { ...result, success } }));
  yield* make('terminated');
}

/**
 * Returns the time of a statement. Those of a write differ in the microseconds, so that their times are in their order.
 *
 * @param place the statement's place in the write
 */
function timestampOf(at: Date, place: number): string {
  const microseconds = String(Math.min(place, 999)).padStart(3, '0');
  return at.toISOString().replace('Z', `${microseconds}Z`);
}

function judged(points: Points, { passingScore }: StatementOptions): { verb: XapiVerb; success: boolean }[] {
  const share = shareOf(points);
  if (passingScore === null || share === null) return [];
  const success = reachesMark(share, passingScore);
  return [{ verb: success ? 'passed' : 'failed', success }];
}

function statementOf(
  subject: StatementSubject,
  { salt }: StatementOptions,
  verb: XapiVerb,
  { name = '', object, parent, result }: About,
): Statement {
  const { writeId, recordId, learnerId, homePage, publicUrl, event, text } = subject;
  const lesson = lessonUrl(subject);
  const version = { objectType: 'Activity', id: `${lesson}/versions/${event.versionId}` };
  const lessonActivity = {
    objectType: 'Activity',
    id: lesson,
    definition: { type: `${adl}/activities/lesson`, ...nameOf(text.title, text.language) },
  };
  const pseudonym = (key: string) =>
    createHmac('sha256', key)
      .update(JSON.stringify([homePage, learnerId]))
      .digest('hex');
  return {
    // The same write has the same ids, so that an LRS stores a repeated statement once.
    id: uuidV5(writeId, JSON.stringify([verb, name])),
    actor: {
      objectType: 'Agent',
      account: { homePage, name: salt === null ? learnerId : pseudonym(salt) },
    },
    verb: { id: `${adl}/verbs/${verb}`, display: { en: verb } },
    object: object ?? lessonActivity,
    ...(result !== undefined && { result }),
    context: {
      registration: uuidV5(recordId, `attempt ${event.attempt}`),
      platform: 'Lectern',
      contextActivities: {
        ...(parent !== undefined && { parent: [parent] }),
        grouping: [...(object === undefined ? [] : [lessonActivity]), version],
      },
      extensions: { [`${publicUrl}/xapi/extensions/revision`]: event.revision },
    },
  };
}

function answered(
  subject: StatementSubject,
  answer: RecordedAnswer,
  titles: ReadonlyMap<string, string>,
): About {
  const { text } = subject;
  const { stepId, widgetId } = answer;
  const interaction = text.interactions.get(interactionKey(stepId, widgetId));
  const stepUrl = `${lessonUrl(subject)}/steps/${encodeURIComponent(stepId)}`;
  const score = scoreOf(answer);
  const response = responseOf(interaction, answer.answer);
  const result = {
    ...(response !== null && { response }),
    ...(score !== null && { success: answer.score === answer.maxScore, score }),
  };
  return {
    name: JSON.stringify([stepId, widgetId]),
    object: {
      objectType: 'Activity',
      id: `${stepUrl}/widgets/${encodeURIComponent(widgetId)}`,
      definition: definitionOf(interaction, text.language),
    },
    parent: {
      objectType: 'Activity',
      id: stepUrl,
      definition: { type: `${adl}/activities/module`, ...nameOf(titles.get(stepId) ?? '', text.language) },
    },
    ...(Object.keys(result).length > 0 && { result }),
  };
}

function definitionOf(interaction: Interaction | undefined, language: string): Json {
  const { type = 'other', prompt = '', parts = {} } = interaction ?? {};
  const lists = Object.entries(parts).filter(([, list]) => list.length > 0);
  return {
    type: `${adl}/activities/cmi.interaction`,
    interactionType: type,
    ...nameOf(prompt, language),
    ...Object.fromEntries(
      lists.map(([name, list]) => [
        name,
        list.map(({ id, text }) => ({ id, description: { [language]: text || id } })),
      ]),
    ),
  };
}

/** Returns an answer as SCORM 2004 and xAPI write it; null if it is unknown. @param answer JSON text. */
function responseOf(interaction: Interaction | undefined, answer: string | null): string | null {
  if (answer === null) return null;
  const value: unknown = JSON.parse(answer);
  const isList = interaction?.type === 'choice' || interaction?.type === 'sequencing';
  if (isList && Array.isArray(value)) return value.map(textOf).join('[,]');
  if (typeof value === 'object' && value !== null) {
    // Texts of gaps, or pairs of source and target.
    const pairs = Object.entries(value).map(([source, target]) => [source, textOf(target)] as const);
    if (interaction?.type === 'fill-in') return pairs.map(([, text]) => text).join('[,]');
    if (interaction?.type === 'matching') return pairs.map((pair) => pair.join('[.]')).join('[,]');
  }
  return typeof value === 'string' ? value : answer;
}

/** Answers come from browsers: String throws for an object with a member `toString`. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** @param passingScore as the mark of {@link shownShare} */
function scoreOf(points: Points, passingScore: number | null = null): Json | null {
  const share = shareOf(points);
  if (share === null) return null;
  const { score, maxScore } = shownPoints(points);
  return { scaled: shownShare(share, passingScore), raw: score, min: 0, max: maxScore };
}

function nameOf(name: string, language: string): Json {
  return name === '' ? {} : { name: { [language]: name } };
}

function lessonUrl({ publicUrl, lessonId }: StatementSubject): string {
  return `${publicUrl}/xapi/lessons/${lessonId}`;
}
