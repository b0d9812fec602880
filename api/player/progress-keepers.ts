import { courseIdOf } from '../../shared/models/course.ts';
import type { Database } from '../../shared/models/database.ts';
import { findEmbedProgress, saveEmbedProgress } from '../../shared/models/embed-progress.ts';
import { findLtiProgress, saveLtiProgress } from '../../shared/models/lti-progress.ts';
import { stateOf } from '../../shared/models/progress-record.ts';
import type { ProgressRecord } from '../../shared/models/progress-record.ts';
import type { EmbedToken, LaunchToken, PlayerToken, PreviewToken } from '../../shared/player-tokens.ts';
import { itemsToJson } from '../../shared/progress/state.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import { rawOrNull } from '../../shared/raw-json.ts';
import { presentEmbedProgress, presentLtiProgress } from '../presenters/progress.ts';

/** The nil UUID (RFC 9562): a launch that is not recorded makes no course. */
const noCourse = '00000000-0000-0000-0000-000000000000';

/** Gives the record of a learner with some state, for `printJson`: the contract's 2.1, or 2.2 with the answers. */
type Present = (state: ProgressState) => Promise<Record<string, unknown>>;

/** A learner's stored progress: its state, and the writes it has seen lately. */
export interface KeptProgress {
  state: ProgressState;
  recentWriteIds: string[];
  /** With the rest of the record as it was stored. */
  present: Present;
}

/**
 * Where the progress of a token's bearer is kept. An embed token has the embed record, a launch token the LTI one or
 * none at all, and a preview token none.
 */
export interface ProgressKeeper {
  find(): Promise<KeptProgress | null>;
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
      const record = await findEmbedProgress(db, token);
      return record && keptOf(record, presentWith(record.userAttributes));
    },
    save: (state, writeId) => saveEmbedProgress(db, token, state, { writeId, userAttributes }),
    present: presentWith(userAttributes),
  };
}

function ltiKeeper(db: Database, token: LaunchToken): ProgressKeeper {
  return {
    keeps: true,
    async find() {
      const record = await findLtiProgress(db, token);
      return (
        record && keptOf(record, (state) => Promise.resolve(presentLaunch(token, state, record.courseId)))
      );
    },
    save: async (state, writeId) =>
      saveLtiProgress(db, token, state, { writeId, courseId: await courseIdOf(db, token) }),
    present: async (state) => presentLaunch(token, state, await courseIdOf(db, token)),
  };
}

/** Of a launch that nothing is recorded of: of a teacher who looks, or of somebody whom the platform does not name. */
function untrackedKeeper(token: LaunchToken): ProgressKeeper {
  return {
    keeps: false,
    find: () => Promise.resolve(null),
    save: () => Promise.resolve(true),
    present: (state) => Promise.resolve(presentLaunch(token, state, noCourse)),
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
function presentLaunch(token: LaunchToken, state: ProgressState, courseId: string) {
  const record = { ...token, ...recordOf(state), courseId };
  return { ...presentLtiProgress(record), items: rawOrNull(record.items) };
}

function keptOf(record: ProgressRecord, present: Present): KeptProgress {
  return { state: stateOf(record), recentWriteIds: record.recentWriteIds, present };
}

/** A state as a record holds it. */
function recordOf(state: ProgressState) {
  return { ...state, items: state.items === null ? null : itemsToJson(state.items) };
}
