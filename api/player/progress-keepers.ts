import { courseIdOf } from '../../shared/models/course.ts';
import type { Database } from '../../shared/models/database.ts';
import { findEmbedProgress, saveEmbedProgress } from '../../shared/models/embed-progress.ts';
import { findLtiProgress, saveLtiProgress } from '../../shared/models/lti-progress.ts';
import { stateOf } from '../../shared/models/progress-record.ts';
import type { ProgressRecord } from '../../shared/models/progress-record.ts';
import type { EmbedToken, LaunchToken, PlayerToken } from '../../shared/player-tokens.ts';
import { itemsToJson } from '../../shared/progress/state.ts';
import type { ProgressState } from '../../shared/progress/state.ts';
import { rawOrNull } from '../../shared/raw-json.ts';
import { presentEmbedProgress, presentLtiProgress } from '../presenters/progress.ts';

/** Gives the record of a learner with some state, for `printJson`: the contract's 2.1, or 2.2 with the answers. */
type Present = (state: ProgressState) => Promise<Record<string, unknown>>;

/** A learner's stored progress: its state, and the writes it has seen lately. */
export interface KeptProgress {
  state: ProgressState;
  recentWriteIds: string[];
  /** With the rest of the record as it was stored. */
  present: Present;
}

/** Where the progress of a token's bearer is kept. An embed token has the embed record, a launch token the LTI one. */
export interface ProgressKeeper {
  find(): Promise<KeptProgress | null>;
  /** False, and nothing changes, when another write came first. */
  save(state: ProgressState, writeId: string | undefined): Promise<boolean>;
  /** With the rest of the record as this token writes it. */
  present: Present;
}

export function progressKeeper(db: Database, token: PlayerToken): ProgressKeeper {
  return token.kind === 'embed' ? embedKeeper(db, token) : ltiKeeper(db, token);
}

function embedKeeper(db: Database, token: EmbedToken): ProgressKeeper {
  const { userAttributes } = token;
  const presentWith =
    (attributes: string | null): Present =>
    (state) =>
      Promise.resolve(presentEmbedProgress({ ...token, ...recordOf(state), userAttributes: attributes }));
  return {
    async find() {
      const record = await findEmbedProgress(db, token);
      return record && keptOf(record, presentWith(record.userAttributes));
    },
    save: (state, writeId) => saveEmbedProgress(db, token, state, { writeId, userAttributes }),
    present: presentWith(userAttributes),
  };
}

function ltiKeeper(db: Database, token: LaunchToken): ProgressKeeper {
  // The contract's 2.2 has no answers, but a player cannot go on without them.
  const presentWith = (state: ProgressState, courseId: string) => {
    const record = { ...token, ...recordOf(state), courseId };
    return { ...presentLtiProgress(record), items: rawOrNull(record.items) };
  };
  return {
    async find() {
      const record = await findLtiProgress(db, token);
      return record && keptOf(record, (state) => Promise.resolve(presentWith(state, record.courseId)));
    },
    save: async (state, writeId) =>
      saveLtiProgress(db, token, state, { writeId, courseId: await courseIdOf(db, token) }),
    present: async (state) => presentWith(state, await courseIdOf(db, token)),
  };
}

function keptOf(record: ProgressRecord, present: Present): KeptProgress {
  return { state: stateOf(record), recentWriteIds: record.recentWriteIds, present };
}

/** A state as a record holds it. */
function recordOf(state: ProgressState) {
  return { ...state, items: state.items === null ? null : itemsToJson(state.items) };
}
