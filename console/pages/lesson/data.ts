import type { LessonUses, LessonVersions, ListedLesson } from '../../api-types.ts';
import { useData } from '../../shell/data.ts';
import type { Loaded } from '../../shell/data.ts';

export type Version = LessonVersions['versions'][number];

export function useLesson(lessonId: string): Loaded<ListedLesson> {
  return useData('GET /api/lessons/{lessonId}', { params: { lessonId } });
}

export function useVersions(lessonId: string): Loaded<LessonVersions> {
  return useData('GET /api/lessons/{lessonId}/versions', { params: { lessonId } });
}

export function useUses(lessonId: string): Loaded<LessonUses> {
  return useData('GET /api/lessons/{lessonId}/uses', { params: { lessonId } });
}
