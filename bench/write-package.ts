import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface PackageContent {
  lessonId: string;
  versionId: string;
  sections: { id: string; title: string; order_index: number; steps: object[] }[];
  /** The media in manifest.json. */
  media?: { id: string; localPath: string; mimeType: string }[];
  /** The variables in lesson.json. */
  variables?: object[];
}

/** Writes lesson.json and manifest.json of a lesson package into a folder. */
export async function writePackage(folder: string, content: PackageContent): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(packageTexts(content))) await writeFile(join(folder, name), text);
}

/** Returns lesson.json and manifest.json of a lesson package. */
export function packageTexts(content: PackageContent): { 'lesson.json': string; 'manifest.json': string } {
  const { lessonId, versionId, sections, media = [], variables = [] } = content;
  const lesson = {
    lesson: {
      id: lessonId,
      slug: 'sample',
      title: 'Sample',
      status: 'published',
      language: 'en',
      variable_definitions: variables,
      widget_settings: { overrides: {} },
    },
    sections,
    totalSections: sections.length,
    totalSteps: sections.reduce((sum, { steps }) => sum + steps.length, 0),
  };
  const manifest = {
    lessonId,
    title: 'Sample',
    versionNumber: 1,
    versionId,
    formatVersion: '1.0.0',
    files: { media, widgets: [] },
  };
  return { 'lesson.json': JSON.stringify(lesson), 'manifest.json': JSON.stringify(manifest) };
}

/** Returns the id of a number, the same in every run. */
export const numberedId = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
