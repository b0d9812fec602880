import { z } from 'zod';
import { importStates } from '../../shared/models/lesson-import.ts';
import type { LessonImport } from '../../shared/models/lesson-import.ts';
import { countResults, results } from '../../shared/lessons/loss-report.ts';
import type { ReportEntry, StoredReport } from '../../shared/lessons/loss-report.ts';
import { count, time, uuid } from '../http/responses.ts';

const reportEntry = z.strictObject({
  path: z.string().meta({ description: 'Where the element is in the source.' }),
  kind: z.string().meta({ description: 'As the format calls it.' }),
  title: z.string(),
  result: z.enum(results).meta({
    description:
      '`converted`: nothing is lost. `partial`: `reason` names what is. `kept`: it plays in its original form. ' +
      '`dropped`: it is missing in the lesson.',
  }),
  reason: z.string().nullable(),
  stepId: z.string().nullable(),
  blockId: z.string().nullable(),
});

const counts = {
  format: z.string().meta({ description: 'The id of the format, such as `h5p`.' }),
  ...{ converted: count, partial: count, kept: count, dropped: count },
};

const conversion = z
  .strictObject({
    ...counts,
    entries: z
      .array(reportEntry)
      .nullable()
      .meta({ description: 'Every element of the source, in its order; null in lists.' }),
  })
  .meta({ description: 'What became of a source in another format.' });

export const conversionReport = z
  .strictObject({
    versionId: uuid,
    ...counts,
    entries: z.array(reportEntry).meta({ description: 'Every element of the source, in its order.' }),
  })
  .meta({ id: 'ConversionReport' });

const report = z
  .strictObject({
    lessonId: uuid,
    versionId: uuid,
    versionNumber: z.int().min(1),
    slug: z.string(),
    published: z.boolean(),
    media: count.meta({ description: 'Media of the package.' }),
    widgets: count.meta({ description: 'Widgets of the package.' }),
    warnings: z.array(z.string()),
    conversion: conversion.nullable().meta({ description: 'Null for a lesson package.' }),
    preview: z
      .strictObject({ url: z.url(), expiresAt: time })
      .nullable()
      .meta({ description: 'A new link for an hour, if the version was published and can be played.' }),
  })
  .meta({ description: 'As `lectern lesson import --json` prints it.' });

export const importBody = z
  .strictObject({
    id: uuid,
    status: z.enum(importStates).meta({
      description:
        '`uploading`: bytes are missing. `queued`: it waits for a worker. `importing`: a worker imports it. ' +
        '`imported`: `report` has the result. `failed`: `error` has the reason. `canceled`: it was deleted.',
    }),
    fileName: z.string(),
    upload: z.strictObject({
      size: count.meta({ description: 'The declared size in bytes.' }),
      offset: count.meta({ description: 'The received bytes.' }),
    }),
    progress: z
      .strictObject({ done: count, total: count, bytes: count })
      .meta({ description: 'Files of the package that were imported, files in total, and bytes.' }),
    report: report.nullable(),
    mediaFileId: uuid
      .nullable()
      .meta({ description: 'With `asMedia`: the file of the media library that was made or found.' }),
    error: z
      .strictObject({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'The message is that of the command.' }),
    createdAt: time,
    endedAt: time.nullable(),
  })
  .meta({ id: 'LessonImport' });

export type ImportBody = z.input<typeof importBody>;

export const importList = z.strictObject({ imports: z.array(importBody) }).meta({ id: 'LessonImports' });

/**
 * @param facts.offset the received bytes; @param facts.preview a link to the published version; @param facts.entries of
 *   the loss report
 */
export function presentImport(
  found: LessonImport,
  {
    offset,
    preview = null,
    entries = null,
  }: {
    offset: number;
    preview?: { url: string; expiresAt: Date } | null;
    entries?: readonly ReportEntry[] | null;
  },
): ImportBody {
  const { _id: id, state, fileName, size, progress, createdAt, endedAt } = found;
  return {
    ...{ id, status: state, fileName, upload: { size, offset } },
    progress: { done: progress.done, total: progress.total, bytes: progress.bytes },
    report: found.report === null ? null : presentReport(found.report, preview, entries),
    mediaFileId: found.mediaFileId,
    error: found.error === null ? null : { code: found.error.code, message: found.error.message },
    createdAt: createdAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
  };
}

function presentReport(
  {
    lessonId,
    versionId,
    versionNumber,
    slug,
    published,
    media,
    widgets,
    warnings,
    conversion: counts,
  }: ImportReport,
  preview: { url: string; expiresAt: Date } | null,
  entries: readonly ReportEntry[] | null,
) {
  return {
    ...{ lessonId, versionId, versionNumber, slug, published, media, widgets, warnings },
    conversion: counts && presentConversion(counts, entries),
    preview: preview === null ? null : { url: preview.url, expiresAt: preview.expiresAt.toISOString() },
  };
}

function presentConversion(
  { format, converted, partial, kept, dropped }: NonNullable<ImportReport['conversion']>,
  entries: readonly ReportEntry[] | null,
) {
  return { format, converted, partial, kept, dropped, entries: entries && presentEntries(entries) };
}

function presentEntries(entries: readonly ReportEntry[]) {
  return entries.map(({ path, kind, title, result, reason, stepId, blockId }) => ({
    ...{ path, kind, title, result, reason, stepId, blockId },
  }));
}

/** Returns the stored report of a version, with its counts. */
export function presentConversionReport(
  versionId: string,
  { format, entries }: StoredReport,
): z.input<typeof conversionReport> {
  return { versionId, format, ...countResults(entries), entries: presentEntries(entries) };
}

type ImportReport = NonNullable<LessonImport['report']>;

/** Returns whether an import ended without its whole upload, or lost it: its upload cannot be continued. */
export function isUploadGone({ state, error }: LessonImport): boolean {
  return isEnded({ state }) && state !== 'imported' && error?.code !== 'INVALID_CONTENT';
}

/** Returns whether an import stays as it is. */
function isEnded({ state }: Pick<LessonImport, 'state'>): boolean {
  return state === 'imported' || state === 'failed' || state === 'canceled';
}
