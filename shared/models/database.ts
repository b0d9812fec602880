import type { Connection, Model, mongo, Schema } from 'mongoose';
import { connectMongo } from '../platform/mongo.ts';
import { apiKeySchema } from './api-key.ts';
import { auditEntrySchema } from './audit-entry.ts';
import { conversionReportSchema } from './conversion-report.ts';
import { courseSchema } from './course.ts';
import { embedProgressSchema } from './embed-progress.ts';
import { erasureSchema } from './erasure.ts';
import { eventDeliverySchema } from './event-delivery.ts';
import { exportRecordSchema } from './export-record.ts';
import { externalWidgetSchema } from './external-widget.ts';
import { fileUseSchema } from './file-use.ts';
import { idempotentRequestSchema } from './idempotent-request.ts';
import { installationSchema } from './installation.ts';
import { libraryFileSchema } from './library-file.ts';
import { lessonContentSchema } from './lesson-content.ts';
import { draftStepSchema, lessonDraftSchema } from './lesson-draft.ts';
import { lessonImportSchema } from './lesson-import.ts';
import { lessonVersionSchema } from './lesson-version.ts';
import { lessonSchema } from './lesson.ts';
import { lessonStatisticsSchema } from './lesson-statistics.ts';
import { ltiKeySchema } from './lti-key.ts';
import { ltiLineItemSchema } from './lti-line-item.ts';
import { ltiPlatformSchema } from './lti-platform.ts';
import { ltiProgressSchema } from './lti-progress.ts';
import { ltiRegistrationSchema } from './lti-registration.ts';
import { ltiResourceLinkSchema } from './lti-resource-link.ts';
import { ltiScoreSchema } from './lti-score.ts';
import { mediumSchema } from './medium.ts';
import { organizationSchema } from './organization.ts';
import { orphanCandidateSchema } from './orphan-candidate.ts';
import { playerReleaseSchema } from './player-release.ts';
import { preparedPartSchema } from './prepared-lesson.ts';
import { remoteFileSchema } from './remote-file.ts';
import { retentionSchema } from './retention.ts';
import { storedThemeSchema } from './theme.ts';
import { tokenRevocationSchema } from './token-revocation.ts';
import { userSchema } from './user.ts';
import { webhookSchema } from './webhook.ts';
import { widgetReleaseSchema } from './widget-release.ts';
import { xapiDestinationSchema } from './xapi-destination.ts';

/** All collections by name; their models and indexes follow from this map. */
const schemas = {
  organizations: organizationSchema,
  apiKeys: apiKeySchema,
  auditEntries: auditEntrySchema,
  assetNotes: orphanCandidateSchema,
  users: userSchema,
  lessons: lessonSchema,
  lessonVersions: lessonVersionSchema,
  lessonContents: lessonContentSchema,
  lessonDrafts: lessonDraftSchema,
  draftSteps: draftStepSchema,
  lessonImports: lessonImportSchema,
  conversionReports: conversionReportSchema,
  media: mediumSchema,
  libraryFiles: libraryFileSchema,
  widgetReleases: widgetReleaseSchema,
  externalWidgets: externalWidgetSchema,
  fileUses: fileUseSchema,
  idempotentRequests: idempotentRequestSchema,
  exportRecords: exportRecordSchema,
  installations: installationSchema,
  remoteFiles: remoteFileSchema,
  retentions: retentionSchema,
  tokenRevocations: tokenRevocationSchema,
  embedProgress: embedProgressSchema,
  erasures: erasureSchema,
  eventDeliveries: eventDeliverySchema,
  ltiProgress: ltiProgressSchema,
  courses: courseSchema,
  ltiKeys: ltiKeySchema,
  ltiLineItems: ltiLineItemSchema,
  ltiPlatforms: ltiPlatformSchema,
  ltiRegistrations: ltiRegistrationSchema,
  ltiResourceLinks: ltiResourceLinkSchema,
  ltiScores: ltiScoreSchema,
  lessonStatistics: lessonStatisticsSchema,
  playerReleases: playerReleaseSchema,
  preparedParts: preparedPartSchema,
  themes: storedThemeSchema,
  webhooks: webhookSchema,
  xapiDestinations: xapiDestinationSchema,
};

type DocumentOf<S> = S extends Schema<infer Document> ? Document : never;
type Models = { [Name in keyof typeof schemas]: Model<DocumentOf<(typeof schemas)[Name]>> };

/** The collections of one MongoDB database: the first argument of all operations of the models. */
export interface Database extends Models {
  connection: Connection;
}

/** Connects and binds the models. {@link buildIndexes} builds the indexes. */
export async function openDatabase(uri: string): Promise<Database> {
  const connection = await connectMongo(uri);
  const models = Object.entries(schemas).map(([name, schema]) => [
    name,
    connection.model(name, schema as Schema, name),
  ]);
  return { connection, ...(Object.fromEntries(models) as Models) };
}

function modelsOf(db: Database): Model<unknown>[] {
  return Object.values(db.connection.models) as Model<unknown>[];
}

/**
 * Creates missing indexes, with one command for each collection. Every process does so before it serves requests;
 * repeating it is harmless (idempotent).
 */
export async function buildIndexes(db: Database): Promise<void> {
  for (const { schema, collection } of modelsOf(db)) {
    const indexes = schema.indexes().map(([key, options]) => ({ ...options, key }) as mongo.IndexDescription);
    if (indexes.length > 0) await collection.createIndexes(indexes);
  }
}

/** Returns the missing indexes, as "collection: fields". */
export async function missingIndexes(db: Database): Promise<string[]> {
  const missing: string[] = [];
  for (const model of modelsOf(db)) {
    const { toCreate } = await model.diffIndexes({ indexOptionsToCreate: true });
    missing.push(
      ...toCreate.map(
        (index: unknown) =>
          `${model.collection.name}: ${JSON.stringify(Array.isArray(index) ? index[0] : index)}`,
      ),
    );
  }
  return missing;
}
