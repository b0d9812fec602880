import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConversionOptions } from '../../shared/converters/converter.ts';
import type { ReportEntry } from '../../shared/lessons/loss-report.ts';
import { readPackage } from '../../shared/packages/read-package.ts';
import type { LessonPackage } from '../../shared/packages/lesson-package.ts';
import { temporaryFolder } from '../support/folders.ts';

export interface ConvertedFile extends LessonPackage {
  entries: ReportEntry[];
  /** The blocks of each step, by the title of the step. */
  steps: Record<string, { type: string; props: Record<string, unknown> }[]>;
}

/** Converts a file as an import does, without storing the result. */
export async function convertFile(
  name: string,
  content: string | Uint8Array,
  conversion: Partial<ConversionOptions> = {},
): Promise<ConvertedFile> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, content);
  return convertPath(path, conversion);
}

export async function convertPath(
  path: string,
  conversion: Partial<ConversionOptions> = {},
): Promise<ConvertedFile> {
  const read = await readPackage(path, { conversion, owner: 'an organization' });
  const steps = read.content.sections.flatMap((section) => section.steps);
  return {
    ...read,
    entries: read.report?.entries ?? [],
    steps: Object.fromEntries(
      steps.map(({ title, content }) => [
        title,
        content.content.map(({ type = '', props }) => ({ type, props: { ...props } })),
      ]),
    ),
  };
}
