import { courseIdOf } from '../../shared/models/course.ts';
import type { Database } from '../../shared/models/database.ts';
import {
  findEmbedHead,
  findEmbedProgress,
  removeEmbedProgress,
  saveEmbedProgress,
} from '../../shared/models/embed-progress.ts';
import type { EmbedProgress } from '../../shared/models/embed-progress.ts';
import {
  findLtiHead,
  findLtiProgress,
  removeLtiProgress,
  saveLtiProgress,
} from '../../shared/models/lti-progress.ts';
import type { LtiProgress } from '../../shared/models/lti-progress.ts';
import { isHeadOnly, stateOf } from '../../shared/models/progress-record.ts';
import type { ProgressEventFields } from '../../shared/events/progress-events.ts';
import type { ProgressRecord, RecordHead, SavedWrite } from '../../shared/models/progress-record.ts';
import type {
  EmbedToken,
  LaunchToken,
  PlayerToken,
  PreviewToken,
} from '../../shared/tokens/player-tokens.ts';
import { itemsToJson } from '../../shared/progress/state.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import { rawOrNull } from '../../shared/platform/raw-json.ts';
import { presentEmbedProgress, presentLtiProgress } from '../progress/present-progress.ts';

/** The nil UUID (RFC 9562), for launches that are not recorded: they create no course. */
const nilCourseId = '00000000-0000-0000-0000-000000000000';

/** A learner's record as players get it: for embed tokens the integrators' body, for launches with the answers added. */
export type PresentedProgress = ReturnType<typeof presentEmbedProgress> | ReturnType<typeof presentLaunch>;

/** Presents a learner's record with some state. */
type Present = (state: ProgressState) => Promise<PresentedProgress>;

/** A learner's stored progress without its JSON texts, which may be large. */
export interface ProgressHead {
  revision: number;
  recentWriteIds: string[];
  /** Size of the JSON texts. */
  textBytes: number;
  /** Whether `load` needs another query for the texts. */
  isLarge: boolean;
  /** Reads the whole record, which may have a later revision; null if it is gone. */
  load(): Promise<StoredProgress | null>;
}

/** A learner's stored record. */
export interface StoredProgress {
  versionId: string;
  revision: number;
  attempt: number;
  recentWriteIds: string[];
  /** The time of the last `progress.updated` event; null before the first one. */
  announcedAt: Date | null;
  /** Parses the record. */
  state(): ProgressState;
  /** Presents the stored record without parsing its JSON texts. */
  presentStored(): Promise<PresentedProgress>;
  /** Presents a state with the other fields of the stored record. */
  present: Present;
}

/**
 * Reads and saves the progress of a token's learner: the embed record for an embed token, the LTI record or none for a
 * launch token, none for a preview token.
 */
export interface ProgressRepository {
  find(): Promise<ProgressHead | null>;
  /** False if nothing is stored: each write stands alone, and no revision is stale. */
  persists: boolean;
  /** Returns false, and changes nothing, if another write came first. */
  save(state: ProgressState, write: SavedWrite): Promise<boolean>;
  /** Removes the record. */
  remove(): Promise<void>;
  /** Presents a state with the other fields that this token would write. */
  present: Present;
}

export function progressRepository(db: Database, token: PlayerToken): ProgressRepository {
  if (token.kind === 'embed') return embedRepository(db, token);
  if (token.kind === 'preview') return previewRepository(token);
  return token.untracked === undefined ? ltiRepository(db, token) : untrackedRepository(token);
}

function embedRepository(db: Database, token: EmbedToken): ProgressRepository {
  const { userAttributes } = token;
  const presentWith =
    (attributes: string | null): Present =>
    (state) =>
      Promise.resolve(presentEmbedProgress({ ...token, ...recordOf(state), userAttributes: attributes }));
  return {
    persists: true,
    async find() {
      const toStored = (record: EmbedProgress) =>
        storedOf(record, presentWith(record.userAttributes), () =>
          Promise.resolve(presentEmbedProgress(record)),
        );
      const head = await findEmbedHead(db, token);
      return head && headOf(head, toStored, () => findEmbedProgress(db, token));
    },
    save: (state, write) => saveEmbedProgress(db, token, state, { ...write, userAttributes }),
    remove: () => removeEmbedProgress(db, token),
    present: presentWith(userAttributes),
  };
}

function ltiRepository(db: Database, token: LaunchToken): ProgressRepository {
  return {
    persists: true,
    async find() {
      const toStored = (record: LtiProgress) =>
        storedOf(
          record,
          (state) => Promise.resolve(presentLaunch(token, recordOf(state), record.courseId)),
          () => Promise.resolve(presentLaunch(token, record, record.courseId)),
        );
      const head = await findLtiHead(db, token);
      return head && headOf(head, toStored, () => findLtiProgress(db, token));
    },
    save: async (state, write) =>
      saveLtiProgress(db, token, state, { ...write, courseId: await courseIdOf(db, token) }),
    remove: () => removeLtiProgress(db, token),
    present: async (state) => presentLaunch(token, recordOf(state), await courseIdOf(db, token)),
  };
}

/** For launches that are not recorded: of teachers, and of users that the platform does not identify. */
function untrackedRepository(token: LaunchToken): ProgressRepository {
  return {
    persists: false,
    find: () => Promise.resolve(null),
    save: () => Promise.resolve(true),
    remove: () => Promise.resolve(),
    present: (state) => Promise.resolve(presentLaunch(token, recordOf(state), nilCourseId)),
  };
}

/** For previews, which have no learner and always begin at the first step. */
function previewRepository(token: PreviewToken): ProgressRepository {
  const noLearner = { learnerId: '', userAttributes: '{}' };
  return {
    persists: false,
    find: () => Promise.resolve(null),
    save: () => Promise.reject(new Error('a preview is never saved')),
    remove: () => Promise.resolve(),
    present: (state) => Promise.resolve(presentEmbedProgress({ ...token, ...recordOf(state), ...noLearner })),
  };
}

/** Presents an LTI record with its answers, which integrators do not get but players need. */
function presentLaunch(
  token: LaunchToken,
  state: Omit<ReturnType<typeof recordOf>, 'finished' | 'attempt' | 'stepTimes'>,
  courseId: string,
) {
  return { ...presentLtiProgress({ ...token, ...state, courseId }), items: rawOrNull(state.items) };
}

function headOf<Record extends ProgressRecord>(
  head: RecordHead<Record>,
  toStored: (record: Record) => StoredProgress,
  findRecord: () => Promise<Record | null>,
): ProgressHead {
  const { revision, recentWriteIds, textBytes } = head;
  const load = async () => {
    const record = isHeadOnly(head) ? await findRecord() : head;
    return record && toStored(record);
  };
  return { revision, recentWriteIds, textBytes, isLarge: isHeadOnly(head), load };
}

function storedOf(
  record: ProgressRecord & ProgressEventFields,
  present: Present,
  presentStored: StoredProgress['presentStored'],
): StoredProgress {
  const { versionId, revision, attempt, recentWriteIds } = record;
  const state = () => stateOf(record);
  const announcedAt = record.announced?.at ?? null;
  return { versionId, revision, attempt, recentWriteIds, announcedAt, state, presentStored, present };
}

/** Converts a state to the fields of a record. */
function recordOf(state: ProgressState) {
  return { ...state, items: state.items === null ? null : itemsToJson(state.items) };
}
