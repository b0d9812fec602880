import type { RecordKind } from '../models/learner-records.ts';

/** A file of a learner's export, with an explanation for the learner. */
export interface Explained {
  name: string;
  meaning: string;
  /**
   * The meanings of fields or columns, by path; several paths may share one. `items[].score` is the score of each entry
   * in `items`. A test compares the paths with real exports.
   */
  fields: readonly (readonly [paths: string, meaning: string])[];
}

/** The delivery state of a message or a grade. */
const deliveryFields: Explained['fields'] = [
  ['state', 'waiting, failed, or idle: nothing to send'],
  ['tries, nextTryAt', 'how often sending failed; when the next try is due'],
  ['createdAt, failingSince', 'when the entry was made; since when sending fails'],
  ['failure', 'why sending failed last; null if it did not'],
  ['failure.at, failure.since', 'the last such try, and the first one'],
  ['failure.reason, failure.status', 'the kind of failure; HTTP status of the response'],
];

const progress: Explained = {
  name: 'progress.json',
  meaning: `One entry for each lesson that you have opened, with everything that
is stored about it.`,
  fields: [
    ['learnerId', 'the learner, as the organization names them'],
    ['platformId, ltiUserId', 'the learning platform, and the learner there'],
    ['contextId, courseId', 'the course there, and the id of the lesson in it'],
    ['lessonId, versionId', 'the lesson, and the version that was played last'],
    ['revision', 'how often the entry has changed'],
    ['attempt', 'how many times the lesson was begun'],
    ['status', 'not_started, in_progress or completed'],
    ['score, maxScore', 'points, and possible points; null: none are counted'],
    ['sectionIndex, stepIndex', 'where the lesson continues; 0 is the first'],
    ['stepId, totalSteps', 'the step there; the number of steps in the lesson'],
    ['startedAt, completedAt', 'when the lesson was begun, and first finished'],
    ['lastActivityAt', 'when the learner last did something in it'],
    ['stepTimes', 'milliseconds of activity on each step, in their order'],
    ['progressData, variables', 'what the lesson remembers for the learner'],
    ['userAttributes', 'what the organization has told the lesson'],
    ['items', 'the last answer to each question'],
    ['items[].stepId, items[].widgetId', 'the step and the question'],
    ['items[].widgetType', 'the kind of question'],
    ['items[].answer', 'the answer, as the question stores it'],
    ['items[].score, items[].maxScore', 'points, and possible points; null: not scored'],
    ['items[].answeredAt, items[].tries', 'when, and how often; without "tries": once'],
    ['finished', 'the last finished attempt'],
    ['finished.at, finished.isCurrent', 'when; false if the lesson was begun again since'],
    ['finished.score, finished.maxScore', 'its points, and possible points'],
  ],
};

const scoreFields = (at: string): [paths: string, meaning: string][] => [
  [`${at}.scoreGiven, ${at}.scoreMaximum`, 'points, and possible points'],
  [`${at}.finishedAt`, 'when the attempt with these points was finished'],
];

/** The file of each kind of record. The compiler requires an entry for a new kind. */
export const recordFiles: Record<RecordKind, Explained> = {
  progress,
  ltiProgress: progress,
  grades: {
    name: 'grades.json',
    meaning: `The grades that Lectern has sent to your learning platform, or will
send.`,
    fields: [
      ['platformId, ltiUserId', 'the learning platform, and the learner there'],
      ['contextId, linkId', 'the course there, and the link that opened the lesson'],
      ['lessonId', 'the lesson'],
      ['wanted', 'the grade that the platform should have'],
      ...scoreFields('wanted'),
      ['wanted.revision', 'the revision of the entry in progress.json'],
      ['sent', 'the last grade that the platform has accepted'],
      ...scoreFields('sent'),
      ['sent.timestamp, sent.at', 'the time in the message, and when it was sent'],
      ['sent.lineItemUrl', 'the web address of the platform, without its path'],
      ['sent.response', 'how the platform responded'],
      ['sent.response.status', 'HTTP status of the response'],
      ['lastTimestamp', 'the time in the last message, accepted or not'],
      ['perhapsTaken', 'finishedAt of a grade whose response was lost'],
      ...deliveryFields,
    ],
  },
  deliveries: {
    name: 'messages.json',
    meaning: `Messages about you that Lectern has sent to other computers of the
organization, or will send: for example that you have finished a lesson. Lectern
deletes sent messages after 7 days, and failed ones after 30 days.`,
    fields: [
      ['kind', 'webhook, xapi (a record store), or write (not prepared yet)'],
      ['type, eventAt', 'what happened, and when'],
      ['lessonId', 'the lesson'],
      ['learnerId, platformId', 'the learner; the learning platform, if there is one'],
      ['body', 'the message'],
      ...deliveryFields,
      ['attempts', 'the tries to send it'],
      ['attempts[].at, attempts[].status', 'when; HTTP status of the response'],
      ['deliveredAt, expiresAt', 'when it arrived; when Lectern deletes the entry'],
    ],
  },
};

/** The files that every export has. */
export const commonFiles = {
  learner: {
    name: 'learner.json',
    meaning: `The identifier under which Lectern stores the data. The organization
or your learning platform has chosen it. Lectern stores no names and no email
addresses, unless they are part of this identifier, of your answers or of
"userAttributes".`,
    fields: [
      ['source', 'embed (a page of the organization) or lti (a platform)'],
      ['learnerId', 'the learner, as the organization names them'],
      ['platformId, ltiUserId', 'the learning platform, and the learner there'],
      ['organization', 'the name of the organization'],
      ['exportedAt', 'when these files were made'],
    ],
  },
  lessons: {
    name: 'lessons.csv',
    meaning: 'A table of your lessons: how far you are, your points, and when.',
    fields: [
      ['lesson, course', 'title of the lesson; the course on the platform'],
      ['status', 'not_started, in_progress or completed'],
      ['points, maxPoints', 'points, and possible points; empty: none are counted'],
      ['started, completed', 'when the lesson was begun, and first finished'],
      ['lastActivity', 'when the learner last did something in it'],
      ['lessonId', 'the lesson, as in the other files'],
    ],
  },
  answers: {
    name: 'answers.csv',
    meaning: `A table of your answers, with questions and points. Spreadsheets
run texts that begin with =, +, - or @ as formulas. Such texts have an
apostrophe in front.`,
    fields: [
      ['lesson, step', 'titles of the lesson and of the step'],
      ['question, answer', 'the question, and the last answer to it'],
      ['points, maxPoints', 'points, and possible points; empty: not scored'],
      ['answered, tries', 'when it was answered last; the number of tries'],
      ['lessonId, stepId, questionId', 'lesson, step and question, as in the other files'],
    ],
  },
  access: {
    name: 'access.json',
    meaning: `When your data was read, exported or deleted in the last 400 days. The
list does not include what happens when you open and play a lesson.`,
    fields: [
      ['at, action', 'when, and what was done'],
      ['by', 'key: a program; user, operator: a person; system: Lectern'],
    ],
  },
  recipients: {
    name: 'recipients.json',
    meaning: `Others that may have data about you, and keep it themselves.`,
    fields: [
      ['gradebooks', 'gradebooks of learning platforms'],
      ['gradebooks[].platform, gradebooks[].grades', 'the platform; how many grades it has accepted'],
      ['learningRecordStores', 'web addresses of learning record stores'],
      ['webhooks', 'web addresses of computers that get messages'],
    ],
  },
} as const satisfies Record<string, Explained>;

/** All files of an export except the README, each once. */
export const explainedFiles: readonly Explained[] = [
  ...new Set<Explained>([...Object.values(commonFiles), ...Object.values(recordFiles)]),
];

/** Returns README.txt. @param kinds the kinds of records that this learner can have. */
export function exportReadme(kinds: readonly RecordKind[], organization: string, exportedAt: Date): string {
  const files = [...Object.values(commonFiles), ...kinds.map((kind) => recordFiles[kind])];
  const explained = files.map(({ name, meaning, fields }) => {
    const lines = fields.map(([paths, text]) => `  ${paths}\n      ${text}\n`);
    return `${name}\n${'-'.repeat(name.length)}\n${meaning}\n\n${lines.join('')}`;
  });
  return `Your learning data
==================

These files contain what Lectern stored about one learner on
${exportedAt.toISOString()} for this organization: ${organization}.
Lectern is the software that shows the organization's lessons. In this text,
"you" are that learner.

The files do not contain technical fields of the records, or texts with which
other computers responded to messages. In the explanations of fields, "the
learner" is you, and "items[].score" is the "score" of each entry in "items".
A value that does not apply is missing, empty or "null".

Times are in UTC. Files that end in .csv are tables, which spreadsheet programs
open. Files that end in .json are for other programs, and readable with any text
editor. If a file has no entries, Lectern has no such data about you.

If something is wrong, or if you want your data to be deleted, ask the
organization.

${explained.join('\n')}`;
}
