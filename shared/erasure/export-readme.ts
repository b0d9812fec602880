import type { RecordKind } from '../models/learner-records.ts';

/** A file of a learner's export, with an explanation for the learner. */
interface Explained {
  name: string;
  meaning: string;
}

const progress: Explained = {
  name: 'progress.json',
  meaning: `One entry for each lesson that you have opened, with everything that
is stored about it:

  status          not_started, in_progress or completed
  score           the points that you have; maxScore: the points that
                  you could have. "null" means that nothing was scored
  attempt         how many times you have begun the lesson
  sectionIndex, stepIndex, stepId
                  where you continue; 0 is the first section or step
  items           your last answer to each question, with its points,
                  its time, and how often you tried
  stepTimes       for how many milliseconds you were active on each step,
                  in the order of the steps
  progressData, variableState
                  what the lesson remembers for you
  userAttributes  what the organization has told the lesson about you
  contextId       the course on the learning platform
  startedAt, completedAt, lastActivityAt
                  when you began, finished and last did something
  finished        your last finished attempt
  events          messages to the organization that were not sent yet`,
};

/** The file of each kind of record. The compiler requires an entry for a new kind. */
export const recordFiles: Record<RecordKind, Explained> = {
  progress,
  ltiProgress: progress,
  grades: {
    name: 'grades.json',
    meaning: `The grades that Lectern has sent to your learning platform, or will
send. "wanted" is the grade that the platform should have, "sent" the one that
it has accepted, with the address of the platform and the HTTP status of its
response.`,
  },
  deliveries: {
    name: 'messages.json',
    meaning: `Messages about you that Lectern has sent to other computers of the
organization, or will send: for example that you have finished a lesson. "body"
is the message, "attempts" are the tries to send it, with the HTTP status of the
response. Lectern deletes sent messages after 7 days, and failed ones after 30
days.`,
  },
  pendingEvents: {
    name: 'waiting-events.json',
    meaning: `Things that you have done in lessons, for which Lectern has not made a
message yet.`,
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
  },
  lessons: {
    name: 'lessons.csv',
    meaning: 'A table of your lessons: how far you are, your points, and when.',
  },
  answers: {
    name: 'answers.csv',
    meaning: `A table of your answers, with questions and points. Spreadsheets
run texts that begin with =, +, - or @ as formulas. Such texts have an
apostrophe in front.`,
  },
  access: {
    name: 'access.json',
    meaning: `When your data was read, exported or deleted in the last 400 days,
and by which means: with a "key" (a program of the organization), by a "user"
(a person who works for it), by an "operator" (a person who runs the software)
or by the "system" itself. The list does not include what happens when you open
and play a lesson.`,
  },
  recipients: {
    name: 'recipients.json',
    meaning: `Others that may have data about you, and keep it themselves:
gradebooks of learning platforms, learning record stores, and computers of the
organization that get messages (webhooks).`,
  },
} as const satisfies Record<string, Explained>;

/** Returns README.txt. @param kinds the kinds of records that this learner can have. */
export function exportReadme(kinds: readonly RecordKind[], organization: string, exportedAt: Date): string {
  const files = [...Object.values(commonFiles), ...kinds.map((kind) => recordFiles[kind])];
  const explained = files.map(({ name, meaning }) => `${name}\n${'-'.repeat(name.length)}\n${meaning}\n`);
  return `Your learning data
==================

These files contain what Lectern stored about one learner on
${exportedAt.toISOString()} for this organization: ${organization}.
Lectern is the software that shows the organization's lessons. In this text,
"you" are that learner.

The files do not contain technical fields of the records, or texts with which
other computers responded to messages.

Times are in UTC. Files that end in .csv are tables, which spreadsheet programs
open. Files that end in .json are for other programs, and readable with any text
editor. If a file has no entries, Lectern has no such data about you.

If something is wrong, or if you want your data to be deleted, ask the
organization.

${explained.join('\n')}`;
}
