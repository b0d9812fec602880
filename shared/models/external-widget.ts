import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions } from '../platform/mongo.ts';

/**
 * A widget that one version of a lesson names by URL: its files are downloaded when an archive is built or a learner
 * needs them. It serves that version alone.
 */
export interface ExternalWidget {
  organizationId: string;
  versionId: string;
  type: string;
  /** Of its file names in an archive. */
  widgetId: string;
  /** The URL of the ES module. */
  sourceUrl: string;
  /** The URL of the stylesheet; null for a widget without one. */
  cssSourceUrl: string | null;
}

/** The part of the database that these operations use. */
export interface ExternalWidgetDb {
  externalWidgets: Model<ExternalWidget>;
}

export const externalWidgetSchema = new Schema<ExternalWidget>(
  {
    organizationId: { type: String, required: true },
    versionId: { type: String, required: true },
    type: { type: String, required: true },
    widgetId: { type: String, required: true },
    sourceUrl: { type: String, required: true },
    cssSourceUrl: { type: String, default: null },
  },
  schemaOptions,
);
externalWidgetSchema.index({ versionId: 1, type: 1 }, { unique: true });

/** Stores the widgets by URL of a version that does not exist yet. */
export async function insertExternalWidgets(db: ExternalWidgetDb, widgets: ExternalWidget[]): Promise<void> {
  await db.externalWidgets.insertMany(widgets);
}

/** The widgets of these types that a version names by URL, by type. */
export async function findExternalWidgets(
  db: ExternalWidgetDb,
  versionId: string,
  types: string[],
): Promise<Map<string, ExternalWidget>> {
  if (types.length === 0) return new Map();
  const found = await db.externalWidgets
    .find({ versionId, type: { $in: types } })
    .lean<ExternalWidget[]>()
    .exec();
  return new Map(found.map((widget) => [widget.type, widget]));
}

export async function deleteExternalWidgetsOfVersion(db: ExternalWidgetDb, versionId: string): Promise<void> {
  await db.externalWidgets.deleteMany({ versionId });
}
