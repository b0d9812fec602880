import { courseIdOf } from '../../shared/models/course.ts';
import type { Database } from '../../shared/models/database.ts';
import { findEmbedHead, findEmbedProgress, saveEmbedProgress } from '../../shared/models/embed-progress.ts';
import type { EmbedProgress } from '../../shared/models/embed-progress.ts';
import { findLtiHead, findLtiProgress, saveLtiProgress } from '../../shared/models/lti-progress.ts';
import type { LtiProgress } from '../../shared/models/lti-progress.ts';
import { isHeadOnly, stateOf } from '../../shared/models/progress-record.ts';
import type { ProgressRecord, RecordHead } from '../../shared/models/progress-record.ts';
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

/** The nil UUID (RFC 9562): a launch that is not recorded makes no course. */
const noCourse = '00000000-0000-0000-0000-000000000000';

/** The record of a learner as a player gets it: for an embed token as integrators do, for a launch with the answers. */
export type PresentedProgress = ReturnType<typeof presentEmbedProgress> | ReturnType<typeof presentLaunch>;

/** Presents a learner's record with some state. */
type Present = (state: ProgressState) => Promise<PresentedProgress>;

/** What is known of a learner's stored progress before its JSON texts are read, which may be large. */
export interface FoundProgress {
  revision: number;
  recentWriteIds: string[];
  /** Bytes of the JSON texts. */
  textBytes: number;
  /** Whether `load` needs another query for them. */
  isLarge: boolean;
  /** Reads all of it; it may be at a later revision by then. Null when it is gone. */
  load(): Promise<KeptProgress | null>;
}

/** A learner's stored progress. */
export interface KeptProgress {
  versionId: string;
  revision: number;
  attempt: number;
  recentWriteIds: string[];
  /** Parses the record. */
  state(): ProgressState;
  /** The record as it was stored, without parsing its JSON texts. */
  presentStored(): Promise<PresentedProgress>;
  /** With the rest of the record as it was stored. */
  present: Present;
}

/**
 * Where the progress of a token's bearer is kept. An embed token has the embed record, a launch token the LTI one or
 * none at all, and a preview token none.
 */
export interface ProgressKeeper {
  find(): Promise<FoundProgress | null>;
  /** Whether what is saved can be found again. Where it cannot, each write stands alone and no revision is stale. */
  keeps: boolean;
  /** False, and nothing changes, when another write came first. */
  save(state: ProgressState, writeId: string | undefined): Promise<boolean>;
  /** With the rest of the record as this token writes it. */
  present: Present;
}

export function progressKeeper(db: Database, token: PlayerToken): ProgressKeeper {
  if (token.kind === 'embed') return embedKeeper(db, token);
  if (token.kind === 'preview') return previewKeeper(token);
  return token.untracked === undefined ? ltiKeeper(db, token) : untrackedKeeper(token);
}

function embedKeeper(db: Database, token: EmbedToken): ProgressKeeper {
  const { userAttributes } = token;
  const presentWith =
    (attributes: string | null): Present =>
    (state) =>
      Promise.resolve(presentEmbedProgress({ ...token, ...recordOf(state), userAttributes: attributes }));
  return {
    keeps: true,
    async find() {
      const keep = (record: EmbedProgress) =>
        keptOf(record, presentWith(record.userAttributes), () =>
          Promise.resolve(presentEmbedProgress(record)),
        );
      const head = await findEmbedHead(db, token);
      return head && foundOf(head, keep, () => findEmbedProgress(db, token));
    },
    save: (state, writeId) => saveEmbedProgress(db, token, state, { writeId, userAttributes }),
    present: presentWith(userAttributes),
  };
}

function ltiKeeper(db: Database, token: LaunchToken): ProgressKeeper {
  return {
    keeps: true,
    async find() {
      const keep = (record: LtiProgress) =>
        keptOf(
          record,
          (state) => Promise.resolve(presentLaunch(token, recordOf(state), record.courseId)),
          () => Promise.resolve(presentLaunch(token, record, record.courseId)),
        );
      const head = await findLtiHead(db, token);
      return head && foundOf(head, keep, () => findLtiProgress(db, token));
    },
    save: async (state, writeId) =>
      saveLtiProgress(db, token, state, { writeId, courseId: await courseIdOf(db, token) }),
    present: async (state) => presentLaunch(token, recordOf(state), await courseIdOf(db, token)),
  };
}

/** Of a launch that nothing is recorded of: of a teacher who looks, or of somebody whom the platform does not name. */
function untrackedKeeper(token: LaunchToken): ProgressKeeper {
  return {
    keeps: false,
    find: () => Promise.resolve(null),
    save: () => Promise.resolve(true),
    present: (state) => Promise.resolve(presentLaunch(token, recordOf(state), noCourse)),
  };
}

/** Shows a session that begins at the first step each time, of no learner. */
function previewKeeper(token: PreviewToken): ProgressKeeper {
  const nobody = { learnerId: '', userAttributes: '{}' };
  return {
    keeps: false,
    find: () => Promise.resolve(null),
    save: () => Promise.reject(new Error('a preview is never saved')),
    present: (state) => Promise.resolve(presentEmbedProgress({ ...token, ...recordOf(state), ...nobody })),
  };
}

/** The contract's 2.2 has no answers, but a player cannot go on without them. */
function presentLaunch(
  token: LaunchToken,
  state: Omit<ReturnType<typeof recordOf>, 'finished' | 'attempt'>,
  courseId: string,
) {
  return { ...presentLtiProgress({ ...token, ...state, courseId }), items: rawOrNull(state.items) };
}

function foundOf<Record extends ProgressRecord>(
  head: RecordHead<Record>,
  keep: (record: Record) => KeptProgress,
  findWhole: () => Promise<Record | null>,
): FoundProgress {
  const { revision, recentWriteIds, textBytes } = head;
  const load = async () => {
    const record = isHeadOnly(head) ? await findWhole() : head;
    return record && keep(record);
  };
  return { revision, recentWriteIds, textBytes, isLarge: isHeadOnly(head), load };
}

function keptOf(
  record: ProgressRecord,
  present: Present,
  presentStored: KeptProgress['presentStored'],
): KeptProgress {
  const { versionId, revision, attempt = 1, recentWriteIds } = record;
  const state = () => stateOf(record);
  return { versionId, revision, attempt, recentWriteIds, state, presentStored, present };
}

/** A state as a record holds it. */
function recordOf(state: ProgressState) {
  return { ...state, items: state.items === null ? null : itemsToJson(state.items) };
}
