import { z } from 'zod';
import type { ListPosition } from '../../shared/models/newest-first.ts';
import { pageCursor } from '../http/pagination.ts';
import type { Fields } from '../http/middleware/form-body.ts';

/** The form of the page where teachers choose lessons. Searching and paging submit it too. */
export interface SelectionForm {
  /** Words of a title. */
  search: string;
  after: ListPosition | null;
  /** By lesson id, in the order of the page. */
  chosen: Map<string, ChosenLesson>;
  action: 'choose' | 'cancel' | null;
}

interface ChosenLesson {
  /** The pinned version; null for the newest at each launch. */
  versionId: string | null;
  /** Whether the lesson gets a gradebook column. */
  hasColumn: boolean;
}

const severalPrefix = 'lesson.';

/** Field names. A lesson's fields end with its id. If only one lesson may be chosen, its id is the value of `one`. */
export const fieldNames = {
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

/** Parses the fields, and ignores invalid ones, which the page cannot have sent. */
export function readSelectionForm(fields: Fields): SelectionForm {
  const several = [...fields.keys()].filter((name) => name.startsWith(severalPrefix));
  const given = [...several.map((name) => name.slice(severalPrefix.length)), fields.get(fieldNames.one)];
  const ids = given.flatMap((text) => id.safeParse(text).data ?? []);
  return {
    search: search.parse(fields.get(fieldNames.search) ?? ''),
    after: cursor.parse(fields.get(fieldNames.cursor) ?? null),
    chosen: new Map(
      ids.map((lessonId) => [
        lessonId,
        {
          versionId: id.safeParse(fields.get(fieldNames.version(lessonId))).data ?? null,
          hasColumn: fields.has(fieldNames.column(lessonId)),
        },
      ]),
    ),
    action: action.parse(fields.get(fieldNames.action) ?? null),
  };
}
