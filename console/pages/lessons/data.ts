import type { LessonImport, LessonPage, ListedLesson } from '../../api-types.ts';
import type { Tone } from '../../kit/parts.tsx';
import { request } from '../../shell/api.ts';
import type { Loaded } from '../../shell/data.ts';
import { useData } from '../../shell/data.ts';
import { query } from '../../shell/router.tsx';

export type Status = ListedLesson['status'];

export const statuses: readonly Status[] = ['published', 'draft', 'unpublished'];

export const statusTones: Record<Status, Tone> = { published: 'good', draft: 'neutral', unpublished: 'warn' };

/** The lessons that the URL asks for. */
export function useLessons(): Loaded<LessonPage> {
  const { title, status, cursor } = query.value;
  return useData('GET /api/lessons', {
    query: {
      ...(title !== undefined && { title }),
      ...(isStatus(status) && { status }),
      ...(cursor !== undefined && { cursor }),
    },
  });
}

export function isStatus(text: string | undefined): text is Status {
  return statuses.some((status) => status === text);
}

const pollMs = 700;

/** Polls an import to its end. @param signal cancels it */
export async function followImport(
  importId: string,
  onChange: (shown: LessonImport) => void,
  signal?: AbortSignal,
): Promise<LessonImport> {
  const params = { importId };
  for (;;) {
    const shown = await request('GET /api/lessons/imports/{importId}', { params });
    if (signal?.aborted) {
      await request('DELETE /api/lessons/imports/{importId}', { params });
      return shown;
    }
    if (shown.endedAt !== null) return shown;
    onChange(shown);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
