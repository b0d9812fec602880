import type { Routes, Theme } from '../../api-types.ts';
import { isHexColor } from '../../../shared/theme/accent.ts';
import { themeRules } from '../../../shared/theme/theme-css.ts';
import { base, request } from '../../shell/api.ts';
import { useData } from '../../shell/data.ts';
import { query } from '../../shell/router.tsx';

/** What the form changes: files are undefined while they stay as they are, and else their bytes in Base64. */
export type ThemeChanges = Routes['PATCH /api/organization/theme']['body'];

/** Returns the stylesheet of a theme that is not saved. A new font file shows after it is saved. */
export function cssOf(saved: Theme, { color, font, radius }: ThemeChanges): string {
  const own = saved.fontFile !== null && font === null ? saved.fontFile.url : null;
  return themeRules({
    ...(color !== null && color !== undefined && isHexColor(color) && { color }),
    ...(font !== null && font !== undefined && { font }),
    ...(radius !== null && radius !== undefined && { radius }),
    fontUrl: own === null ? null : new URL(own, base).href,
  });
}

/** Returns the published lessons, and the one that the URL asks for, by default the newest. */
export function usePreviewLesson() {
  const { data } = useData('GET /api/lessons', { query: { status: 'published' } });
  const lessons = data?.lessons ?? [];
  const chosen = lessons.find(({ id }) => id === query.value.lesson) ?? lessons[0];
  const versions = useData(chosen === undefined ? null : 'GET /api/lessons/{lessonId}/versions', {
    params: { lessonId: chosen?.id ?? '' },
  });
  const published = versions.data?.versions.find(({ status }) => status === 'published');
  return { isLoaded: data !== undefined, lessons, chosen, versionId: published?.id };
}

/** Returns the URL of a preview at this address of Lectern, which may differ from its public one. */
export async function previewUrl(lessonId: string, versionId: string): Promise<string> {
  const { url } = await request('POST /api/lessons/{lessonId}/versions/{versionId}/preview-links', {
    params: { lessonId, versionId },
  });
  return `${base}/embed/${lessonId}${new URL(url).search}`;
}

/** Returns a file in Base64. */
export function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => {
      const text = reader.result as string;
      resolve(text.slice(text.indexOf(',') + 1));
    });
    reader.addEventListener('error', () => reject(reader.error ?? new Error('The file cannot be read')));
    reader.readAsDataURL(file);
  });
}
