import type { DraftStep, LessonDraft } from '../../api-types.ts';
import { ApiError, request } from '../../shell/api.ts';

/** Returns the draft of a lesson. Creates it of the newest version if there is none. @throws {ApiError} */
export async function openDraft(lessonId: string): Promise<LessonDraft> {
  const params = { lessonId };
  for (;;) {
    try {
      return await request('GET /api/lessons/{lessonId}/draft', { params });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    }
    try {
      return await request('POST /api/lessons/{lessonId}/draft', { params, body: {} });
    } catch (error) {
      // Another author, or another tab, was faster.
      if (!(error instanceof ApiError) || error.status !== 409) throw error;
    }
  }
}

/** @throws {ApiError} */
export function loadStep(lessonId: string, stepId: string): Promise<DraftStep> {
  return request('GET /api/lessons/{lessonId}/draft/steps/{stepId}', { params: { lessonId, stepId } });
}
