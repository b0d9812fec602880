import type { Database } from '../models/database.ts';
import { findContentParts } from '../models/lesson-content.ts';
import { LimitExceeded } from '../platform/limited-process.ts';
import { runTask } from '../platform/tasks.ts';
import type { TaskWait } from '../platform/tasks.ts';
import type { Interaction, VersionText, VersionTextPart } from './interactions.ts';

/**
 * Returns the texts of a version, which a child process reads from its content; null if it has no content, or takes too
 * much time or memory: statements and exports without texts are better than none.
 *
 * @throws {LecternError} TOO_MANY_REQUESTS if its turn does not come in time
 */
export async function findVersionText(
  db: Database,
  { versionId, organizationId }: { versionId: string; organizationId: string },
  wait: TaskWait = {},
): Promise<VersionText | null> {
  const parts = await findContentParts(db, versionId);
  if (parts === null) return null;
  const run = { what: `Reading the version ${versionId}`, organizationId, ...wait };
  const steps: VersionText['steps'] = [];
  const interactions = new Map<string, Interaction>();
  let text = { title: '', language: 'und', characters: 0 };
  const read = await runTask<VersionTextPart>('versionText', parts, run).catch((error: unknown) => {
    if (error instanceof LimitExceeded) return null;
    throw error;
  });
  if (read === null) return null;
  for (const part of read) {
    if ('steps' in part) steps.push(...part.steps);
    else if ('interactions' in part)
      for (const [key, value] of part.interactions) interactions.set(key, value);
    else text = part;
  }
  return { ...text, steps, interactions };
}
