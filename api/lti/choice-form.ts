import { z } from 'zod';
import type { ListPosition } from '../../shared/models/lesson-list.ts';
import { pageCursor } from '../http/pagination.ts';
import type { Fields } from '../http/middleware/form-body.ts';

/** What the page where lessons are chosen sends: to itself for a search or another page, and at the end. */
export interface ChoiceForm {
  /** Words of a title. */
  search: string;
  after: ListPosition | null;
  /** In the order in which they stand on the page, by the id of the lesson. */
  chosen: Map<string, ChosenLesson>;
  action: 'choose' | 'cancel' | null;
}

/** A lesson as somebody wants to have it. */
export interface ChosenLesson {
  /** The version that is pinned; null for the newest at each launch. */
  versionId: string | null;
  /** With a column in the gradebook. */
  hasColumn: boolean;
}

const severalPrefix = 'lesson.';

/** Names of fields. Those of a lesson end with its id; where one alone may be chosen its id is the value. */
export const names = {
  search: 'q',
  cursor: 'cursor',
  one: 'lesson',
  several: (lessonId: string) => `${severalPrefix}${lessonId}`,
  version: (lessonId: string) => `version.${lessonId}`,
  column: (lessonId: string) => `column.${lessonId}`,
  action: 'action',
} as const;

const id = z.guid().toLowerCase();
const search = z.string().max(200).catch('');
const cursor = pageCursor.nullable().catch(null);
const action = z.enum(['choose', 'cancel']).nullable().catch(null);

/** Reads the fields; what nobody but another page can have sent is left out. */
export function readChoiceForm(fields: Fields): ChoiceForm {
  const several = [...fields.keys()].filter((name) => name.startsWith(severalPrefix));
  const given = [...several.map((name) => name.slice(severalPrefix.length)), fields.get(names.one)];
  const ids = given.flatMap((text) => id.safeParse(text).data ?? []);
  return {
    search: search.parse(fields.get(names.search) ?? ''),
    after: cursor.parse(fields.get(names.cursor) ?? null),
    chosen: new Map(
      ids.map((lessonId) => [
        lessonId,
        {
          versionId: id.safeParse(fields.get(names.version(lessonId))).data ?? null,
          hasColumn: fields.has(names.column(lessonId)),
        },
      ]),
    ),
    action: action.parse(fields.get(names.action) ?? null),
  };
}
