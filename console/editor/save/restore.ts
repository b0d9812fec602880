import { ApiError } from '../../shell/api.ts';
import type { StepContent } from '../model/blocks.ts';
import type { EditorStore } from '../model/editor-store.ts';
import type { Skeleton } from '../model/lesson-document.ts';
import { loadStep } from '../model/opening.ts';
import { readCopies, removeCopy } from './local-copies.ts';
import type { LocalCopy } from './local-copies.ts';
import type { Saver } from './saver.ts';

/**
 * Brings back what the browser kept because the server did not get it. If another author has saved meanwhile, or the
 * draft is another one, that is a conflict.
 *
 * @returns the number of parts that are back
 * @throws {ApiError}
 */
export async function restoreCopies(store: EditorStore, saver: Saver): Promise<number> {
  const copies = await readCopies(store.lessonId);
  let restored = 0;
  for (const copy of copies) if (await restore(store, saver, copy)) restored += 1;
  return restored;
}

async function restore(store: EditorStore, saver: Saver, copy: LocalCopy): Promise<boolean> {
  const { key, value } = copy;
  const present = await presentOf(store, copy);
  if (present !== undefined && JSON.stringify(present.value) === JSON.stringify(value)) {
    await removeCopy(store.lessonId, key);
    return false;
  }
  store.edit([[key, value]]);
  if (present === undefined) return true;
  const isBase = copy.draftId === store.draft.id && copy.revision === present.revision;
  if (!isBase)
    saver.addConflict({
      ...{ key, theirs: present.value, revision: present.revision, savedAt: present.savedAt },
    });
  return true;
}

interface Present {
  value: Skeleton | StepContent;
  revision: number;
  savedAt: string;
}

/** Returns what the server has of a part; undefined for a step that it does not have. */
async function presentOf(store: EditorStore, { key }: LocalCopy): Promise<Present | undefined> {
  const { draft, lessonId } = store;
  if (key === 'skeleton')
    return { value: store.skeleton.peek(), revision: draft.revision, savedAt: draft.savedAt };
  const stepId = key.slice('step:'.length);
  try {
    const { revision, savedAt } = await loadStep(lessonId, stepId);
    return { value: await store.requireStep(stepId), revision, savedAt };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}
