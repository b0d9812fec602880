import { contentParts, parseContent } from '../models/gzip-parts.ts';

/** The fields in which a copy differs. */
export interface CopyFields {
  lessonId: string;
  slug: string;
  title: string;
}

/** The task that gives a stored content the fields of a copy. */
export async function* copyContentTask({
  parts,
  fields: { lessonId, ...fields },
}: {
  parts: Buffer[];
  fields: CopyFields;
}): AsyncGenerator<Buffer> {
  const content = await parseContent(parts);
  yield* await contentParts({ ...content, lesson: { ...content.lesson, ...fields, id: lessonId } });
}
