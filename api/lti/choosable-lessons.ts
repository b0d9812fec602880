import type { Database } from '../../shared/models/database.ts';
import { pageOfLessons, publishedVersionsOf } from '../../shared/models/lesson-list.ts';
import type { ListPosition } from '../../shared/models/newest-first.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { SelectionForm } from './selection-form.ts';

const lessonsPerPage = 10;

/** Bounds a search with few results: each query reads up to a thousand lessons. */
const maxQueries = 5;

export interface ChoosableLesson {
  lessonId: string;
  /** The published versions, the newest first. */
  versions: [LessonVersion, ...LessonVersion[]];
}

/** A page of lessons to choose from (pagination). */
export interface ChoosablePage {
  /** Lessons that were chosen on other pages. */
  chosenElsewhere: ChoosableLesson[];
  lessons: ChoosableLesson[];
  /** The cursor of the next page; null on the last one. */
  next: ListPosition | null;
}

/** Returns a page of an organization's published lessons, with the lessons chosen so far. */
export async function pageOfChoosable(
  db: Database,
  organizationId: string,
  form: Pick<SelectionForm, 'search' | 'after' | 'chosen'>,
): Promise<ChoosablePage> {
  const { lessonIds, next } = await listedLessons(db, organizationId, form);
  const elsewhere = [...form.chosen.keys()].filter((lessonId) => !lessonIds.includes(lessonId));
  const [chosenElsewhere, lessons] = await Promise.all(
    [elsewhere, lessonIds].map((ids) => findChoosable(db, organizationId, ids)),
  );
  return { chosenElsewhere: chosenElsewhere ?? [], lessons: lessons ?? [], next };
}

/** Returns those of the lessons that belong to the organization and are published, in the same order. */
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
  { search: title, after }: Pick<SelectionForm, 'search' | 'after'>,
): Promise<{ lessonIds: string[]; next: ListPosition | null }> {
  const lessonIds: string[] = [];
  let next = after;
  for (let query = 0; query < maxQueries; query += 1) {
    const limit = lessonsPerPage - lessonIds.length;
    const page = await pageOfLessons(db, organizationId, { status: 'published', title, limit, after: next });
    lessonIds.push(...page.lessons.map(({ lesson }) => lesson._id));
    next = page.next;
    if (next === null || lessonIds.length === lessonsPerPage) break;
  }
  return { lessonIds, next };
}
