import { cutText, namedBlock } from '../lessons/block-names.ts';
import type { NamedBlock } from '../lessons/block-names.ts';
import { lessonDifferences } from '../lessons/compare-lessons.ts';
import type { LessonDifference, Part } from '../lessons/compare-lessons.ts';
import type { ChangedValue } from '../lessons/compare-values.ts';
import { parseContent } from '../models/gzip-parts.ts';

/** What a comparison contains at most; it counts all changes. */
const limits = { changes: 500, valuesOfPart: 100, charactersOfText: 4_000, characters: 1_000_000 };

const excerptCharacters = 100;
const maxPathCharacters = 500;

/** A section or step: its number among its siblings in the version where it is. */
export interface ChangedPlace {
  id: string;
  title: string;
  number: number;
}

/** A value that changed: texts as they are, other values as JSON; null where it is missing. */
interface ChangedText {
  path: string;
  before: string | null;
  after: string | null;
  /** Whether a text is longer. */
  isCut: boolean;
}

/** A change between two versions, for people. */
export interface VersionChange {
  kind: 'lesson' | 'section' | 'step' | 'block';
  changes: LessonDifference['changes'];
  section: ChangedPlace | null;
  step: ChangedPlace | null;
  block: NamedBlock | null;
  /** Where it was before, if in another section or step. */
  from: { section: ChangedPlace; step: ChangedPlace | null } | null;
  /** Its earlier id, if that was another one. */
  formerId: string | null;
  values: ChangedText[];
}

const counts = () => ({ added: 0, removed: 0, moved: 0, changed: 0 });

/** The number of changes. */
export interface ChangeCounts {
  /** Changed settings of the lesson. */
  settings: number;
  sections: ReturnType<typeof counts>;
  steps: ReturnType<typeof counts>;
  blocks: ReturnType<typeof counts>;
}

export const noChanges = (): ChangeCounts => ({
  ...{ settings: 0, sections: counts(), steps: counts(), blocks: counts() },
});

/** The result of the task: changes, and at the end how many there are. */
export type ComparisonPart = { change: VersionChange } | { summary: ChangeCounts; isComplete: boolean };

/** The task that compares two stored contents. */
export async function* compareVersionsTask({
  before,
  after,
}: {
  before: Buffer[];
  after: Buffer[];
}): AsyncGenerator<ComparisonPart> {
  const summary = noChanges();
  const sums = { section: summary.sections, step: summary.steps, block: summary.blocks };
  let [changes, characters] = [0, 0];
  let isComplete = true;
  for (const difference of lessonDifferences(await parseContent(before), await parseContent(after))) {
    const { part, values } = difference;
    if (part === null) summary.settings += values.length;
    else for (const change of difference.changes) sums[part.kind][change] += 1;
    if (changes === limits.changes || characters > limits.characters) {
      isComplete = false;
      continue;
    }
    const change = presentDifference(difference);
    changes += 1;
    for (const text of change.values) characters += (text.before?.length ?? 0) + (text.after?.length ?? 0);
    if (values.length > limits.valuesOfPart) isComplete = false;
    yield { change };
  }
  yield { summary, isComplete };
}

function presentDifference({ part, changes, values }: LessonDifference): VersionChange {
  const texts = values.slice(0, limits.valuesOfPart).map(textsOf);
  if (part === null)
    return {
      ...{ kind: 'lesson', changes, values: texts },
      ...{ section: null, step: null, block: null, from: null, formerId: null },
    };
  const { kind, id, match, parent } = part;
  const former = match?.parent ?? undefined;
  return {
    kind,
    changes,
    ...placesOf(kind === 'block' ? parent : part),
    block: kind === 'block' ? namedBlock(part.value) : null,
    from: former === undefined || former === parent?.match ? null : fromOf(former),
    formerId: match === undefined || match.id === id ? null : match.id,
    values: texts,
  };
}

function placesOf(part: Part | null): Pick<VersionChange, 'section' | 'step'> {
  if (part?.kind !== 'step') return { section: part && placeOf(part), step: null };
  return { section: part.parent && placeOf(part.parent), step: placeOf(part) };
}

function fromOf(part: Part): VersionChange['from'] {
  const { section, step } = placesOf(part);
  return section && { section, step };
}

function placeOf({ id, value, number }: Part): ChangedPlace {
  return { id, title: cutText(String(value.title), excerptCharacters), number };
}

function textsOf({ path, before, after }: ChangedValue): ChangedText {
  const [earlier = null, later = null] = [before, after].map((value) =>
    value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value),
  );
  const max = limits.charactersOfText;
  const cut = (text: string | null) => text && cutText(text, max);
  const isCut = [earlier, later].some((text) => text !== null && text.length > max);
  return { path: cutText(path, maxPathCharacters), before: cut(earlier), after: cut(later), isCut };
}
