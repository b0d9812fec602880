import { Schema } from 'mongoose';
import type { Model } from 'mongoose';
import { schemaOptions } from '../platform/mongo.ts';

/**
 * A widget that one version of a lesson names by URL. Builds and learners' requests download its files. Other versions
 * cannot use it.
 */
export interface ExternalWidget {
  organizationId: string;
  versionId: string;
  type: string;
  /** Used in its file names in an archive. */
  widgetId: string;
  /** The URL of the ES module. */
  sourceUrl: string;
  /** The URL of the stylesheet; null for a widget without one. */
  cssSourceUrl: string | null;
}

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

/** Stores the widgets with URLs of a version, before the version itself. */
export async function insertExternalWidgets(db: ExternalWidgetDb, widgets: ExternalWidget[]): Promise<void> {
  await db.externalWidgets.insertMany(widgets);
}

/** Returns a version's widgets with URLs of these types, by type. */
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

/** Gives a version that does not exist yet the widgets with URLs of another one. */
export async function copyExternalWidgets(db: ExternalWidgetDb, from: string, to: string): Promise<void> {
  const widgets = await db.externalWidgets.find({ versionId: from }).lean<ExternalWidget[]>().exec();
  await insertExternalWidgets(
    db,
    widgets.map(({ organizationId, type, widgetId, sourceUrl, cssSourceUrl }) => ({
      ...{ organizationId, versionId: to, type, widgetId, sourceUrl, cssSourceUrl },
    })),
  );
}

export async function deleteExternalWidgetsOfVersion(db: ExternalWidgetDb, versionId: string): Promise<void> {
  await db.externalWidgets.deleteMany({ versionId });
}
