import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { results } from '../lessons/loss-report.ts';
import type { ReportEntry, StoredReport } from '../lessons/loss-report.ts';
import { schemaOptions } from '../platform/mongo.ts';
import { groupsOf } from '../platform/groups.ts';

/** A part of the loss report of a version that was converted from another format. */
export interface ReportPart extends StoredReport {
  versionId: string;
  part: number;
}

export interface ConversionReportDb {
  conversionReports: Model<ReportPart>;
}

const entrySchema = new Schema<ReportEntry>(
  {
    path: { type: String, default: '' },
    kind: { type: String, default: '' },
    title: { type: String, default: '' },
    result: { type: String, required: true, enum: results },
    reason: { type: String, default: null },
    stepId: { type: String, default: null },
    blockId: { type: String, default: null },
  },
  { _id: false },
);

export const conversionReportSchema = new Schema<ReportPart>(
  {
    versionId: { type: String, required: true },
    part: { type: Number, required: true },
    format: { type: String, required: true },
    entries: { type: [entrySchema], default: [] },
  },
  schemaOptions,
);
conversionReportSchema.index({ versionId: 1, part: 1 }, { unique: true });

/** The number of entries in a document, which may have 16 MB. */
const entriesPerPart = 5_000;

/** Stores the report of a version that does not exist yet. */
export async function insertReport(
  db: ConversionReportDb,
  versionId: string,
  { format, entries }: StoredReport,
): Promise<void> {
  const parts = entries.length === 0 ? [[]] : [...groupsOf(entries, entriesPerPart)];
  for (const [part, some] of parts.entries()) {
    await db.conversionReports.create({ versionId, part, format, entries: some });
  }
}

/** Returns the report of a version; null if it was imported as a package. */
export async function findReport(db: ConversionReportDb, versionId: string): Promise<StoredReport | null> {
  const parts = await db.conversionReports.find({ versionId }).sort({ part: 1 }).lean<ReportPart[]>().exec();
  const [first] = parts;
  return first === undefined
    ? null
    : { format: first.format, entries: parts.flatMap(({ entries }) => entries) };
}

/** Returns the formats that versions were converted from, by version. Those that were imported as packages are missing. */
export async function findReportFormats(
  db: ConversionReportDb,
  versionIds: readonly string[],
): Promise<Map<string, string>> {
  const found = await db.conversionReports
    .find({ versionId: { $in: versionIds }, part: 0 }, { versionId: 1, format: 1 })
    .lean<ReportPart[]>()
    .exec();
  return new Map(found.map(({ versionId, format }) => [versionId, format]));
}

/** Deletes the report of an import that failed. */
export async function deleteReport(db: ConversionReportDb, versionId: string): Promise<void> {
  await db.conversionReports.deleteMany({ versionId });
}
