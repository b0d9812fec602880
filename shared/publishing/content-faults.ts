import { authoringWarnings } from '../lessons/authoring.ts';
import type { AuthoringWarning } from '../lessons/authoring.ts';
import { placeOfBlock } from '../lessons/block-names.ts';
import type { BlockPlace } from '../lessons/block-names.ts';
import { lessonBlocks, typeOf } from '../lessons/blocks.ts';
import type { LessonBlockVisit } from '../lessons/blocks.ts';
import type { LessonContent } from '../lessons/lesson-content.ts';
import { mediaReferences } from '../lessons/media-references.ts';
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
  warnings: AuthoringWarning[];
  /** The first block that uses each of the wanted media and widget types. */
  places: Map<string, BlockPlace>;
}

type FaultsPart = Partial<Pick<ContentFaults, 'errors' | 'warnings'>> & { places?: [string, BlockPlace][] };

const faultsPerPart = 250;

/** The task that returns the faults in a stored content, in parts. */
export async function* contentFaultsTask({
  parts,
  wanted,
}: {
  parts: Buffer[];
  wanted: string[];
}): AsyncGenerator<FaultsPart> {
  const content = await parseContent(parts);
  for (const errors of groupsOf(playabilityErrors(content), faultsPerPart)) yield { errors };
  for (const warnings of groupsOf(authoringWarnings(content), faultsPerPart)) yield { warnings };
  for (const places of groupsOf(placesOf(content, new Set(wanted)), faultsPerPart)) yield { places };
}

function placesOf(content: LessonContent, wanted: Set<string>): [string, BlockPlace][] {
  const visits = new Map<string, LessonBlockVisit>();
  if (wanted.size === 0) return [];
  for (const visit of lessonBlocks(content)) {
    for (const used of [typeOf(visit.block) ?? '', ...mediaReferences(visit.block.props)]) {
      if (!wanted.has(used)) continue;
      // The props of a block contain the blocks in it, which come after it.
      const first = visits.get(used);
      if (first === undefined || visit.path.startsWith(`${first.path}.`)) visits.set(used, visit);
    }
  }
  return [...visits].map(([used, visit]) => [used, placeOfBlock(visit)]);
}

/**
 * Returns the faults in the content of a version, which is in these parts.
 *
 * @param wanted media and widget types whose place is needed
 */
export async function findContentFaults(
  parts: Buffer[],
  { _id: versionId, organizationId }: Pick<LessonVersion, '_id' | 'organizationId'>,
  wanted: string[],
  wait: TaskWait = {},
): Promise<ContentFaults> {
  const run = { what: `Checking the version ${versionId}`, organizationId, ...wait };
  const found = await runTask<FaultsPart>('contentFaults', { parts, wanted }, run);
  return {
    errors: found.flatMap(({ errors = [] }) => errors),
    warnings: found.flatMap(({ warnings = [] }) => warnings),
    places: new Map(found.flatMap(({ places = [] }) => places)),
  };
}
