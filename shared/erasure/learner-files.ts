import { readAudit } from '../models/audit-entry.ts';
import { answerText } from '../learners/answer-columns.ts';
import { csv } from '../learners/learner-tables.ts';
import type { Cell } from '../learners/learner-tables.ts';
import type { Database } from '../models/database.ts';
import { findLesson } from '../models/lesson.ts';
import { kindsOf, readRecords } from '../models/learner-records.ts';
import { findOrganization } from '../models/organization.ts';
import type { ProgressRecord } from '../models/progress-record.ts';
import { jsonPieces } from '../platform/raw-json.ts';
import { shownPoints } from '../progress/points.ts';
import type { StoredItem } from '../progress/state.ts';
import { pseudonymOf } from '../tokens/learner-subject.ts';
import type { LearnerSubject } from '../tokens/learner-subject.ts';
import { findVersionText } from '../xapi/find-version-text.ts';
import { interactionKey } from '../xapi/interactions.ts';
import { downstreamOf } from './erase.ts';
import { commonFiles, exportReadme, recordFiles } from './export-readme.ts';
import { exportedFields, originOf } from './exported-fields.ts';
import { groupsOf } from '../platform/groups.ts';

/** A file of the export of a learner. */
export interface LearnerFile {
  name: string;
  /** Yields the text. Reads MongoDB only when iterated. */
  text: () => AsyncIterable<string | Uint8Array>;
}

export interface LearnerExportDependencies {
  db: Database;
  /** The key pepper. */
  pepper: string;
}

/** Returns all data of a learner that an erasure would remove, as files for people and programs. */
export function learnerFiles(
  { db, pepper }: LearnerExportDependencies,
  learner: LearnerSubject,
  exportedAt: Date,
): LearnerFile[] {
  const { organizationId, ...subject } = learner;
  const kinds = kindsOf(learner);
  const organizationName = async () => (await findOrganization(db, organizationId))?.name ?? '';
  const progress = <Field extends keyof OwnedProgress, Presented>(
    fields: readonly Field[],
    present: (record: Pick<OwnedProgress, Field>) => Presented,
  ) => {
    const kind = learner.source === 'embed' ? 'progress' : 'ltiProgress';
    return readRecords(db, learner, kind, (record) => present(record as never), fields);
  };
  const { learner: own, lessons, answers, access, recipients } = commonFiles;
  return [
    {
      name: 'README.txt',
      text: () => once(async () => exportReadme(kinds, await organizationName(), exportedAt)),
    },
    {
      name: own.name,
      text: () =>
        once(async () => document({ ...subject, organization: await organizationName(), exportedAt })),
    },
    {
      name: lessons.name,
      text: () =>
        csv(
          lessonRows(
            db,
            progress(lessonFields, (record) => record),
          ),
        ),
    },
    { name: answers.name, text: () => csv(answerRows(db, progress(answerFields, withItemGroups))) },
    ...kinds.map((kind) => ({
      name: recordFiles[kind].name,
      text: () => jsonArray(readRecords(db, learner, kind, (record) => exportedFields(kind, record))),
    })),
    { name: access.name, text: () => jsonArray(accesses(db, pepper, learner)) },
    { name: recipients.name, text: () => recipientsOf(db, learner) },
  ];
}

type OwnedProgress = ProgressRecord & { contextId?: string | null };

async function* once(text: () => Promise<string>): AsyncGenerator<string> {
  yield await text();
}

function document(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Short texts are joined: each chunk takes several steps on its way into the archive. */
const maxJoinedCharacters = 16 * 1024;

/** Yields the text of a JSON array, one element per line. */
async function* jsonArray(
  entries: AsyncIterable<Record<string, unknown>>,
): AsyncGenerator<string | Uint8Array> {
  let joined = '';
  let separator = '[\n';
  for await (const entry of entries) {
    for (const piece of [separator, ...jsonPieces(entry)]) {
      if (typeof piece === 'string' && joined.length + piece.length <= maxJoinedCharacters) {
        joined += piece;
        continue;
      }
      yield joined;
      joined = '';
      yield piece;
    }
    separator = ',\n';
  }
  yield joined + (separator === '[\n' ? '[]\n' : '\n]\n');
}

/** Yields who accessed a learner's data and when: the kind of actor, without its identity and IP address. */
async function* accesses(
  db: Database,
  pepper: string,
  learner: LearnerSubject,
): AsyncGenerator<Record<string, unknown>> {
  const entries = readAudit(db, learner.organizationId, { learner: pseudonymOf(pepper, learner) });
  for await (const { at, action, actor } of entries) yield { at: at.toISOString(), action, by: actor.type };
}

async function* recipientsOf(db: Database, learner: LearnerSubject): AsyncGenerator<string> {
  const { gradebooks, recordStores, webhooks } = await downstreamOf(db, learner);
  yield document({
    gradebooks: gradebooks.map(({ issuer, grades }) => ({ platform: issuer, grades })),
    learningRecordStores: recordStores.map(({ endpoint }) => originOf(endpoint)),
    webhooks: [...new Set(webhooks.map(({ url }) => originOf(url)))],
  });
}

const lessonFields = [
  ...(['organizationId', 'lessonId', 'contextId', 'status', 'score', 'maxScore'] as const),
  ...(['startedAt', 'completedAt', 'lastActivityAt'] as const),
] as const;

async function* lessonRows(
  db: Database,
  records: AsyncIterable<Pick<OwnedProgress, (typeof lessonFields)[number]>>,
): AsyncGenerator<Cell[]> {
  const columns = [
    'lesson',
    'course',
    'status',
    'points',
    'maxPoints',
    'started',
    'completed',
    'lastActivity',
  ];
  yield [...columns, 'lessonId'];
  for await (const record of records) {
    const { organizationId, lessonId, contextId = null, status } = record;
    const { score, maxScore } = shownPoints(record);
    const lesson = await findLesson(db, lessonId);
    const title = lesson?.organizationId === organizationId ? lesson.title : null;
    const times = [record.startedAt, record.completedAt, record.lastActivityAt].map(isoOf);
    yield [title, contextId, status, score, maxScore, ...times, lessonId];
  }
}

function isoOf(time: Date | null): string | null {
  return time?.toISOString() ?? null;
}

/** The number of items that are parsed at once. */
const itemsPerGroup = 50;

/** An export that waits longer for the texts of a lesson ends with an error, and the client may repeat it. */
const textWait = { wait: { maxWaitMs: 60_000 } };

const answerFields = ['organizationId', 'lessonId', 'versionId', 'items'] as const;

type AnsweredRecord = Pick<OwnedProgress, 'organizationId' | 'lessonId' | 'versionId'> & {
  itemGroups: Buffer[];
};

/** Divides the items of a record into JSON arrays. */
function withItemGroups({
  organizationId,
  lessonId,
  versionId,
  items,
}: Pick<OwnedProgress, (typeof answerFields)[number]>): AnsweredRecord {
  const itemGroups = Array.from(groupsOf(items, itemsPerGroup), (some) => Buffer.from(JSON.stringify(some)));
  return { organizationId, lessonId, versionId, itemGroups };
}

async function* answerRows(db: Database, records: AsyncIterable<AnsweredRecord>): AsyncGenerator<Cell[]> {
  const columns = ['lesson', 'step', 'question', 'answer', 'points', 'maxPoints', 'answered', 'tries'];
  yield [...columns, 'lessonId', 'stepId', 'questionId'];
  for await (const { organizationId, lessonId, versionId, itemGroups } of records) {
    if (itemGroups.length === 0) continue;
    const text = await findVersionText(db, { organizationId, versionId }, textWait);
    const titles = new Map(text?.steps.map(({ id, title }) => [id, title]));
    for (const group of itemGroups) {
      const items = JSON.parse(group.toString()) as (Omit<StoredItem, 'answeredAt'> & {
        answeredAt: string;
      })[];
      for (const item of items) {
        const { stepId, widgetId, answer, answeredAt, tries } = item;
        const { score, maxScore } = shownPoints(item);
        const interaction = text?.interactions.get(interactionKey(stepId, widgetId));
        yield [
          ...[text?.title ?? null, titles.get(stepId) ?? null, interaction?.prompt ?? null],
          answerText(interaction, JSON.parse(answer)),
          ...[score, maxScore, answeredAt, tries, lessonId, stepId, widgetId],
        ];
      }
    }
  }
}

/** Returns the name of a learner's export. It names no learner: file names end up in logs and histories. */
export function exportName(exportedAt: Date): string {
  return `learner-${exportedAt.toISOString().slice(0, 10)}.zip`;
}
