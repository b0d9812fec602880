import type { Block, LessonMeta } from '../lessons/lesson-content.ts';

/** A lesson without the ids and orders that Lectern gives it. */
export interface ConvertedLesson {
  /**
   * Names the lesson within its organization: a source with the same identity becomes the lesson's next version. Null if
   * only the same bytes are the same lesson.
   */
  identity: string | null;
  /** The part of the source that became the lesson, if it is not the whole: another part is another lesson. */
  part?: string;
  /** The id of the lesson, a UUID, if the source has one. */
  lessonId?: string;
  lesson: Partial<LessonMeta> & { title: string };
  sections: ConvertedSection[];
}

export interface ConvertedSection {
  id?: string;
  title: string;
  steps: ConvertedStep[];
}

export interface ConvertedStep {
  id?: string;
  title: string;
  blocks: ConvertedBlock[];
}

/** A block that may lack its id. */
export type ConvertedBlock = Omit<Block, 'type' | 'props'> & {
  type: string;
  props: Record<string, unknown>;
};
