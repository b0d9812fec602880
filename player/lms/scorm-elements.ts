import { withTex } from '../../shared/lessons/blocks.ts';
import { questionId, sectionId } from '../../shared/lms/ids.ts';
import type { Question } from '../../shared/lms/lesson-map.ts';
import {
  decimal,
  scorm12Response,
  scorm12Type,
  scorm2004Pattern,
  scorm2004Response,
  shortText,
} from '../../shared/lms/responses.ts';
import { shownShare } from '../../shared/progress/points.ts';
import type { AnswerItem } from '../lesson/state.ts';
import type { LessonReport, SectionReport } from './lesson-report.ts';
import type { ScormVersion } from './scorm-api.ts';

/* What Lectern writes into the data models of SCORM 1.2 and SCORM 2004: names and values, in the order of writing. */

export type Elements = [element: string, value: string][];

/** The names of the elements that a session reads, or writes by itself. */
export const sessionElements = {
  '1.2': {
    exit: 'cmi.core.exit',
    mode: 'cmi.core.lesson_mode',
    location: 'cmi.core.lesson_location',
    passMark: 'cmi.student_data.mastery_score',
    sessionTime: 'cmi.core.session_time',
  },
  '2004': {
    exit: 'cmi.exit',
    mode: 'cmi.mode',
    location: 'cmi.location',
    passMark: 'cmi.scaled_passing_score',
    sessionTime: 'cmi.session_time',
  },
} as const;

/** The elements that say how a lesson was completed; they return what a platform has from earlier sessions. */
export const statusElements = {
  '1.2': ['cmi.core.lesson_status'],
  '2004': ['cmi.completion_status', 'cmi.success_status'],
} as const;

/** Returns the pass mark that a platform sets, as a share; null if it sets none. */
export function passMarkOf(version: ScormVersion, value: string): number | null {
  if (value.trim() === '' || !Number.isFinite(Number(value))) return null;
  return version === '1.2' ? Number(value) / 100 : Number(value);
}

export function statusOf(version: ScormVersion, { completed, success, progress }: LessonReport): Elements {
  if (version === '1.2') {
    const status = success ?? (completed ? 'completed' : 'incomplete');
    return [['cmi.core.lesson_status', completed || success === 'failed' ? status : 'incomplete']];
  }
  return [
    ['cmi.completion_status', completed ? 'completed' : 'incomplete'],
    ['cmi.success_status', success ?? 'unknown'],
    ['cmi.progress_measure', share(progress)],
  ];
}

/** Nothing before the first scored answer: platforms take a score of 0 for a result. */
export function scoreOf(version: ScormVersion, { score }: LessonReport): Elements {
  if (score === null) return [];
  const prefix = version === '1.2' ? 'cmi.core.score' : 'cmi.score';
  const scaled: Elements = version === '1.2' ? [] : [[`${prefix}.scaled`, share(score)]];
  return [
    ...scaled,
    [`${prefix}.min`, '0'],
    [`${prefix}.max`, '100'],
    [`${prefix}.raw`, decimal(score * 100, 2) ?? '0'],
  ];
}

export function objectiveOf(version: ScormVersion, index: number, section: SectionReport): Elements {
  const at = `cmi.objectives.${index}`;
  const { status, score, progress, title } = section;
  const id: Elements = [[`${at}.id`, sectionId(section.id)]];
  if (version === '1.2') {
    return [
      ...id,
      ...(score === null ? [] : ([[`${at}.score.raw`, decimal(score * 100, 2) ?? '0']] as Elements)),
      [`${at}.status`, status],
    ];
  }
  return [
    ...id,
    ...(title === '' ? [] : ([[`${at}.description`, description(title)]] as Elements)),
    ...(score === null ? [] : ([[`${at}.score.scaled`, share(score)]] as Elements)),
    [`${at}.completion_status`, status],
    [`${at}.progress_measure`, share(progress)],
  ];
}

export interface AnsweredQuestion {
  question: Question;
  /** The id of its section. */
  section: string;
  item: AnswerItem;
  /** The time from the step's appearance to the answer. */
  latencyMs: number;
}

/** Returns an answer as an interaction. Platforms check a response by the type that was set before. */
export function interactionOf(
  version: ScormVersion,
  index: number,
  { question, section, item, latencyMs }: AnsweredQuestion,
): Elements {
  const at = `cmi.interactions.${index}`;
  const { form } = question;
  const objective = sectionId(section);
  const response = form.responseOf(item.answer);
  const elements: [name: string, value: string | undefined][] =
    version === '1.2'
      ? [
          ['id', questionId(question)],
          ['type', scorm12Type(form.type)],
          ['objectives.0.id', objective],
          ['time', clock(new Date(item.answeredAt))],
          ['correct_responses.0.pattern', form.correct ? scorm12Response(form.correct) : undefined],
          ['weighting', form.points === null ? undefined : decimal(form.points)],
          ['student_response', response && scorm12Response(response)],
          ['result', resultOf(item, 'wrong')],
          ['latency', duration12(latencyMs)],
        ]
      : [
          ['id', questionId(question)],
          ['type', form.type],
          ['objectives.0.id', objective],
          ['timestamp', localTime(new Date(item.answeredAt))],
          ['correct_responses.0.pattern', form.correct ? scorm2004Pattern(form.correct) : undefined],
          ['weighting', form.points === null ? undefined : decimal(form.points)],
          ['learner_response', response && scorm2004Response(response)],
          ['result', resultOf(item, 'incorrect')],
          ['latency', duration2004(latencyMs)],
          ['description', description(plainText(form.prompt)) || undefined],
        ];
  return elements.flatMap(([name, value]) => (value === undefined ? [] : [[`${at}.${name}`, value]]));
}

export function sessionTime(version: ScormVersion, sinceMs: number): string {
  return version === '1.2' ? duration12(sinceMs) : duration2004(sinceMs);
}

function resultOf({ score, maxScore }: AnswerItem, wrong: string): string {
  if (score === null || maxScore === null) return 'neutral';
  if (score === maxScore) return 'correct';
  return score === 0 ? wrong : share(shownShare(score / maxScore));
}

function share(value: number): string {
  return decimal(Math.min(1, Math.max(0, value)), 4) ?? '0';
}

function clock(date: Date): string {
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(twoDigits).join(':');
}

/** Returns local time in whole seconds: some platforms accept a time zone only after a fraction of a second. */
function localTime(date: Date): string {
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(twoDigits).join('-');
  return `${day}T${clock(date)}`;
}

function partsOf(ms: number) {
  const hundredths = Math.min(Math.max(0, Math.round(ms / 10)), 9999 * 360_000);
  return {
    hours: Math.floor(hundredths / 360_000),
    minutes: Math.floor(hundredths / 6000) % 60,
    seconds: Math.floor(hundredths / 100) % 60,
    hundredths: hundredths % 100,
  };
}

const twoDigits = (value: number) => String(value).padStart(2, '0');

function duration12(ms: number): string {
  const { hours, minutes, seconds, hundredths } = partsOf(ms);
  const time = `${String(hours).padStart(4, '0')}:${twoDigits(minutes)}:${twoDigits(seconds)}`;
  return `${time}.${twoDigits(hundredths)}`;
}

/** Returns a duration without days, which have no fixed length. */
export function duration2004(ms: number): string {
  const { hours, minutes, seconds, hundredths } = partsOf(ms);
  return `PT${hours}H${minutes}M${seconds}${hundredths === 0 ? '' : `.${twoDigits(hundredths)}`}S`;
}

const maxDescription = 250;

function description(text: string): string {
  const line = shortText(text.replaceAll(/\s+/g, ' ').trim(), maxDescription - 1);
  // Platforms would read `{lang=…}` as an attribute.
  return line.startsWith('{') ? ` ${line}` : line;
}

/** Returns the text of HTML. */
export function plainText(html: string): string {
  return new DOMParser().parseFromString(withTex(html), 'text/html').body.textContent;
}
