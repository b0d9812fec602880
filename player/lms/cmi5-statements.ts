import { randomId, uuid } from '../older-browsers.ts';
import { listOf, recordOf } from '../../shared/lessons/json-values.ts';
import { choiceId, scorm2004Pattern, scorm2004Response, shortText } from '../../shared/lms/responses.ts';
import { questionId } from '../../shared/lms/ids.ts';
import { fingerprintOf } from '../../shared/lms/lesson-map.ts';
import type { Question } from '../../shared/lms/lesson-map.ts';
import { rounded, shareOf, shownShare } from '../../shared/progress/points.ts';
import type { AnswerItem } from '../lesson/state.ts';
import type { LessonReport } from './lesson-report.ts';
import type { LaunchData, LaunchParameters } from './cmi5-launch.ts';
import { duration2004, plainText } from './scorm-elements.ts';

/* The statements of a cmi5 assignable unit: cmi5 (Quartz), section 9. */

type Json = Record<string, unknown>;

export type Cmi5Verb = 'initialized' | 'completed' | 'passed' | 'failed' | 'terminated';

export interface StatementContext {
  launch: LaunchParameters;
  data: LaunchData;
  language: string;
}

const verbs = 'http://adlnet.gov/expapi/verbs';
const cmi5Context = 'https://w3id.org/xapi/cmi5/context';
const progressExtension = 'https://w3id.org/xapi/cmi5/result/extensions/progress';

/** Verbs whose result counts for the platform's rule to move on. */
const movesOn: readonly Cmi5Verb[] = ['completed', 'passed', 'failed'];
/** cmi5 allows one of each in a registration. */
const oncePerRegistration: readonly Cmi5Verb[] = ['completed', 'passed'];

/** Returns a statement that cmi5 defines. The id of a verb that is sent once in a registration is always the same. */
export function cmi5Statement(
  context: StatementContext,
  verb: Cmi5Verb,
  { report, sinceMs }: { report?: LessonReport; sinceMs: number },
): Json {
  const { launch, data } = context;
  const categories = ['cmi5', ...(movesOn.includes(verb) ? ['moveon'] : [])];
  const isJudged = verb === 'passed' || verb === 'failed';
  const { masteryScore } = data;
  const result: Json = {
    ...(verb === 'completed' && { completion: true }),
    ...(isJudged && { success: verb === 'passed' }),
    ...(isJudged && report && scoreOf(report)),
    ...(verb !== 'initialized' && { duration: duration2004(sinceMs) }),
  };
  return statement(context, verb, {
    id: oncePerRegistration.includes(verb) ? stableId([launch.registration, verb]) : randomId(),
    object: { objectType: 'Activity', id: launch.activityId },
    result,
    categories: categories.map((name) => `${cmi5Context}/categories/${name}`),
    extensions:
      isJudged && masteryScore !== null ? { [`${cmi5Context}/extensions/masteryscore`]: masteryScore } : {},
  });
}

/** Returns a statement about an answer. It is "cmi5 allowed": without the categories of cmi5. */
export function answeredStatement(context: StatementContext, question: Question, item: AnswerItem): Json {
  const { form } = question;
  const response = form.responseOf(item.answer);
  const text = response && scorm2004Response(response);
  const pattern = form.correct ? scorm2004Pattern(form.correct) : undefined;
  const { score, maxScore } = item;
  const choices = (form.choices ?? []).flatMap((id, index) => {
    const short = choiceId(index);
    return short === undefined ? [] : [{ id: short, description: { [context.language]: id } }];
  });
  return statement(context, 'answered', {
    id: randomId(),
    object: {
      objectType: 'Activity',
      id: `${context.launch.activityId.replace(/\/$/, '')}/${questionId(question)}`,
      definition: {
        type: 'http://adlnet.gov/expapi/activities/cmi.interaction',
        interactionType: form.type,
        name: { [context.language]: shortText(plainText(form.prompt), 250) || question.widgetType },
        ...(choices.length > 0 && { choices }),
        ...(pattern !== undefined && { correctResponsesPattern: [pattern] }),
      },
    },
    result: {
      ...(text !== undefined && { response: text }),
      ...(score !== null &&
        maxScore !== null && {
          success: score === maxScore,
          score: {
            scaled: shownShare(shareOf({ score, maxScore }) ?? 0),
            raw: rounded(score),
            min: 0,
            max: rounded(maxScore),
          },
        }),
    },
    parent: context.launch.activityId,
  });
}

/** Returns a statement about the share of the lesson that was seen. */
export function progressedStatement(context: StatementContext, { progress }: LessonReport): Json {
  return statement(context, 'progressed', {
    id: randomId(),
    object: { objectType: 'Activity', id: context.launch.activityId },
    result: { extensions: { [progressExtension]: percentOf(progress) } },
  });
}

export function percentOf(progress: number): number {
  return Math.round(100 * progress);
}

interface StatementParts {
  id: string;
  object: Json;
  result: Json;
  categories?: string[];
  extensions?: Json;
  parent?: string;
}

/** Own parts follow those of the platform's template: platforms compare lists by position. */
function statement(
  { launch, data: { contextTemplate } }: StatementContext,
  verb: string,
  { id, object, result, categories = [], extensions = {}, parent }: StatementParts,
): Json {
  const activities = recordOf(contextTemplate.contextActivities);
  const append = (name: string, ids: string[]) =>
    ids.length === 0
      ? {}
      : { [name]: [...listOf(activities[name]), ...ids.map((activity) => ({ id: activity }))] };
  return {
    id,
    timestamp: new Date().toISOString(),
    actor: launch.actor,
    verb: { id: `${verbs}/${verb}`, display: { en: verb } },
    object,
    ...(Object.keys(result).length > 0 && { result }),
    context: {
      ...contextTemplate,
      registration: launch.registration,
      contextActivities: {
        ...activities,
        ...append('category', categories),
        ...append('parent', parent === undefined ? [] : [parent]),
      },
      extensions: { ...recordOf(contextTemplate.extensions), ...extensions },
    },
  };
}

/** Points are whole numbers in cmi5, so they are written in hundredths. */
function scoreOf({ score, points }: LessonReport): Json {
  if (score === null) return {};
  const hundredths = points && {
    raw: rounded(points.raw * 100, 0),
    min: 0,
    max: rounded(points.max * 100, 0),
  };
  return { score: { scaled: score, ...hundredths } };
}

/** Returns a UUID (version 8) that follows from texts: the store then keeps a repeated statement once. */
function stableId(texts: string[]): string {
  return uuid(
    ['0', '1', '2', '3'].map((salt) => fingerprintOf([salt, ...texts])),
    '8',
  );
}
