import { randomUUID } from 'node:crypto';
import type { ClientSession } from 'mongoose';
import type { EventOwner } from '../../shared/events/progress-events.ts';
import { changedGrade } from '../../shared/lti/scores/grade.ts';
import { courseIdOf } from '../../shared/models/course.ts';
import type { Database } from '../../shared/models/database.ts';
import {
  findEmbedProgress,
  removeEmbedProgress,
  saveEmbedProgress,
} from '../../shared/models/embed-progress.ts';
import { findLtiProgress, removeLtiProgress, saveLtiProgress } from '../../shared/models/lti-progress.ts';
import { wantScore } from '../../shared/models/lti-score-changes.ts';
import type { ProgressRecord, SavedWrite } from '../../shared/models/progress-record.ts';
import type {
  EmbedToken,
  LaunchToken,
  PlayerToken,
  PreviewToken,
} from '../../shared/tokens/player-tokens.ts';
import { insertDeliveries } from '../../shared/models/event-delivery.ts';
import { rowsOfWrite } from '../../shared/outgoing/progress-rows.ts';
import type { ProgressReceivers } from '../../shared/outgoing/subscriptions.ts';
import { itemsJson } from '../../shared/progress/state.ts';
import type { ProgressState, StoredAttributes } from '../../shared/progress/state.ts';
import { presentEmbedProgress, presentLtiProgress } from '../progress/present-progress.ts';

/** The nil UUID (RFC 9562), for launches that are not recorded: they create no course. */
const nilCourseId = '00000000-0000-0000-0000-000000000000';

/** A learner's record as players get it: for embed tokens the integrators' body, for launches with the answers added. */
export type PresentedProgress = ReturnType<typeof presentEmbedProgress> | ReturnType<typeof presentLaunch>;

/**
 * Reads and saves the progress of a token's learner: the embed record for an embed token, the LTI record or none for a
 * launch token, none for a preview token.
 */
export interface ProgressRepository {
  /** False if nothing is stored: each write stands alone. */
  persists: boolean;
  /** The attributes in the token; null for LTI users. */
  userAttributes: StoredAttributes | null;
  find(): Promise<ProgressRecord | null>;
  /** Returns false, and changes nothing, if another write came first. */
  save(change: RecordChange): Promise<boolean>;
  /** Removes the record. */
  remove(): Promise<void>;
  present(state: ProgressState): Promise<PresentedProgress>;
}

/** A write to a record, from its stored state to the next one. */
interface RecordChange {
  stored: ProgressRecord | null;
  before: ProgressState;
  next: ProgressState;
  erasedAt: Date | null;
  receivers: ProgressReceivers | null;
}

export function progressRepository(db: Database, token: PlayerToken): ProgressRepository {
  if (token.kind === 'embed') return embedRepository(db, token);
  if (token.kind === 'preview') return previewRepository(token);
  return token.untracked === undefined ? ltiRepository(db, token) : untrackedRepository(token);
}

function embedRepository(db: Database, token: EmbedToken): ProgressRepository {
  const userAttributes = { text: token.userAttributes, issuedAt: token.issuedAt };
  return {
    persists: true,
    userAttributes,
    find: () => findEmbedProgress(db, token),
    save(change) {
      const { organizationId, lessonId, learnerId } = token;
      const write = savedWrite(db, change, { organizationId, lessonId, learnerId });
      return saveEmbedProgress(db, token, change.next, write);
    },
    remove: () => removeEmbedProgress(db, token),
    present: (state) =>
      Promise.resolve(
        // Before the first write, a session has the attributes of its token.
        presentEmbedProgress({ ...token, ...state, userAttributes: state.userAttributes ?? userAttributes }),
      ),
  };
}

function ltiRepository(db: Database, token: LaunchToken): ProgressRepository {
  let known: string | undefined;
  const courseId = async () => (known ??= await courseIdOf(db, token));
  return {
    persists: true,
    userAttributes: null,
    async find() {
      const record = await findLtiProgress(db, token);
      known = record?.courseId ?? known;
      return record;
    },
    async save(change) {
      const { organizationId, lessonId, platformId, ltiUserId, contextId } = token;
      const owner = { organizationId, lessonId, platformId, ltiUserId, contextId };
      const grade = changedGrade(change.before, change.next);
      const write = savedWrite(
        db,
        change,
        owner,
        grade && ((session) => wantScore(db, owner, grade, session)),
      );
      const isSaved = await saveLtiProgress(db, token, change.next, { ...write, courseId: await courseId() });
      // A launch of another link that found no record has added its row by now, but the transaction may not have seen it.
      if (isSaved && grade && change.stored === null) await wantScore(db, owner, grade);
      return isSaved;
    },
    remove: () => removeLtiProgress(db, token),
    present: async (state) => presentLaunch(token, state, await courseId()),
  };
}

/** Returns what a write stores beside the state. @param addGrade adds the grade to the outbox. */
function savedWrite(
  db: Database,
  { stored, before, next, erasedAt, receivers }: RecordChange,
  owner: WithoutRecordId<EventOwner>,
  addGrade: ((session: ClientSession) => Promise<unknown>) | null = null,
): SavedWrite {
  const recordId = stored?._id ?? randomUUID();
  const reported = { owner: { ...owner, recordId }, before, next, updateDueAt: stored?.updateDueAt ?? null };
  const { rows, updateDueAt } =
    receivers === null ? { ...reported, rows: [] } : rowsOfWrite(receivers, reported);
  const hasRows = addGrade !== null || rows.length > 0;
  return {
    ...{ recordId, erasedAt, updateDueAt },
    addRows: hasRows
      ? async (session) => {
          await addGrade?.(session);
          await insertDeliveries(db, rows, session);
        }
      : null,
  };
}

type WithoutRecordId<Owner> = Owner extends unknown ? Omit<Owner, 'recordId'> : never;

/** For launches that are not recorded: of teachers, and of users that the platform does not identify. */
function untrackedRepository(token: LaunchToken): ProgressRepository {
  return {
    ...nothingStored,
    save: () => Promise.resolve(true),
    present: (state) => Promise.resolve(presentLaunch(token, state, nilCourseId)),
  };
}

/** For previews, which have no learner and always begin at the first step. */
function previewRepository(token: PreviewToken): ProgressRepository {
  const userAttributes = { text: '{}', issuedAt: token.issuedAt };
  return {
    ...nothingStored,
    save: () => Promise.reject(new Error('a preview is never saved')),
    present: (state) =>
      Promise.resolve(presentEmbedProgress({ ...token, ...state, learnerId: '', userAttributes })),
  };
}

const nothingStored = {
  persists: false,
  userAttributes: null,
  find: () => Promise.resolve(null),
  remove: () => Promise.resolve(),
};

/** Presents an LTI record with its answers, which integrators do not get but players need. */
function presentLaunch(token: LaunchToken, state: ProgressState, courseId: string) {
  return { ...presentLtiProgress({ ...token, ...state, courseId }), items: itemsJson(state.items) };
}
