import { authoringWarnings } from '../lessons/authoring.ts';
import { playabilityErrors } from '../lessons/playability.ts';
import type { PlayabilityError } from '../lessons/playability.ts';
import { parseContent } from '../models/gzip-parts.ts';
import type { LessonVersion } from '../models/lesson-version.ts';
import { runTask } from '../platform/tasks.ts';
import type { TaskWait } from '../platform/tasks.ts';
import { groupsOf } from '../platform/groups.ts';

/** Faults in the content of a version. */
export interface ContentFaults {
  /** The reasons why it cannot be played. */
  errors: PlayabilityError[];
  /** The author's probable mistakes. */
  warnings: string[];
}

const faultsPerPart = 250;

/** The task that returns the faults in a stored content, in parts. */
export async function* contentFaultsTask(parts: Buffer[]): AsyncGenerator<ContentFaults> {
  const content = await parseContent(parts);
  for (const errors of groupsOf(playabilityErrors(content), faultsPerPart)) yield { errors, warnings: [] };
  for (const warnings of groupsOf(authoringWarnings(content), faultsPerPart)) yield { errors: [], warnings };
}

/** Returns the faults in the content of a version, which is in these parts. */
export async function findContentFaults(
  content: Buffer[],
  { _id: versionId, organizationId }: Pick<LessonVersion, '_id' | 'organizationId'>,
  wait: TaskWait = {},
): Promise<ContentFaults> {
  const run = { what: `Checking the version ${versionId}`, organizationId, ...wait };
  const parts = await runTask<ContentFaults>('contentFaults', content, run);
  return {
    errors: parts.flatMap(({ errors }) => errors),
    warnings: parts.flatMap(({ warnings }) => warnings),
  };
}
