import type { Database } from '../../shared/models/database.ts';
import { pageOfLessons, publishedVersionsOf } from '../../shared/models/lesson-list.ts';
import type { ListPosition } from '../../shared/models/lesson-list.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { ChoiceForm } from './choice-form.ts';

const lessonsOfPage = 10;

/** Each looks at a thousand lessons: of a search that finds little no more is asked at once. */
const mostRounds = 5;

/** A lesson that may be chosen. */
export interface ChoosableLesson {
  lessonId: string;
  /** Those that are published, the one that learners get unless another is pinned first. Never empty. */
  versions: [LessonVersion, ...LessonVersion[]];
}

/** What may be chosen, as far as the page shows it. */
export interface ChoosablePage {
  /** What was chosen before and stands on another page. */
  chosenElsewhere: ChoosableLesson[];
  lessons: ChoosableLesson[];
  /** Where the next page begins; null at the end. */
  next: ListPosition | null;
}

/** A page of an organization's published lessons, with what was chosen so far. */
export async function pageOfChoosable(
  db: Database,
  organizationId: string,
  form: Pick<ChoiceForm, 'search' | 'after' | 'chosen'>,
): Promise<ChoosablePage> {
  const { lessonIds, next } = await listedLessons(db, organizationId, form);
  const elsewhere = [...form.chosen.keys()].filter((lessonId) => !lessonIds.includes(lessonId));
  const [chosenElsewhere, lessons] = await Promise.all(
    [elsewhere, lessonIds].map((ids) => findChoosable(db, organizationId, ids)),
  );
  return { chosenElsewhere: chosenElsewhere ?? [], lessons: lessons ?? [], next };
}

/** Those of some lessons that the organization has and has published, in the same order. */
export async function findChoosable(
  db: Database,
  organizationId: string,
  lessonIds: readonly string[],
): Promise<ChoosableLesson[]> {
  if (lessonIds.length === 0) return [];
  const versions = await publishedVersionsOf(db, organizationId, lessonIds);
  return lessonIds.flatMap((lessonId) => {
    const [newest, ...others] = versions.get(lessonId) ?? [];
    return newest === undefined ? [] : [{ lessonId, versions: [newest, ...others] }];
  });
}

async function listedLessons(
  db: Database,
  organizationId: string,
  { search: title, after }: Pick<ChoiceForm, 'search' | 'after'>,
): Promise<{ lessonIds: string[]; next: ListPosition | null }> {
  const lessonIds: string[] = [];
  let next = after;
  for (let round = 0; round < mostRounds; round += 1) {
    const limit = lessonsOfPage - lessonIds.length;
    const page = await pageOfLessons(db, organizationId, { status: 'published', title, limit, after: next });
    lessonIds.push(...page.lessons.map(({ lesson }) => lesson._id));
    next = page.next;
    if (next === null || lessonIds.length === lessonsOfPage) break;
  }
  return { lessonIds, next };
}
