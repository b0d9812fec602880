import type { Connection, Model } from 'mongoose';
import { connectMongo } from '../platform/mongo.ts';
import { apiKeySchema } from './api-key.ts';
import type { ApiKey, ApiKeyDb } from './api-key.ts';
import { assetNoteSchema } from './orphan-candidate.ts';
import type { AssetNote, AssetNoteDb } from './orphan-candidate.ts';
import { courseSchema } from './course.ts';
import type { Course, CourseDb } from './course.ts';
import { embedProgressSchema } from './embed-progress.ts';
import type { EmbedProgress, EmbedProgressDb } from './embed-progress.ts';
import { externalWidgetSchema } from './external-widget.ts';
import type { ExternalWidget, ExternalWidgetDb } from './external-widget.ts';
import { exportRecordSchema } from './export-record.ts';
import type { StoredExportRecord, ExportRecordDb } from './export-record.ts';
import { lessonContentSchema } from './lesson-content.ts';
import type { ContentPart, LessonContentDb } from './lesson-content.ts';
import { lessonSchema } from './lesson.ts';
import type { Lesson, LessonDb } from './lesson.ts';
import { lessonVersionSchema } from './lesson-version.ts';
import type { LessonVersion, LessonVersionDb } from './lesson-version.ts';
import { ltiKeySchema } from './lti-key.ts';
import type { LtiKey, LtiKeyDb } from './lti-key.ts';
import { ltiLineItemSchema } from './lti-line-item.ts';
import type { LtiLineItem, LtiLineItemDb } from './lti-line-item.ts';
import { ltiPlatformSchema } from './lti-platform.ts';
import type { LtiPlatform, LtiPlatformDb } from './lti-platform.ts';
import { ltiProgressSchema } from './lti-progress.ts';
import type { LtiProgress, LtiProgressDb } from './lti-progress.ts';
import { ltiRegistrationSchema } from './lti-registration.ts';
import type { LtiRegistration, LtiRegistrationDb } from './lti-registration.ts';
import { ltiResourceLinkSchema } from './lti-resource-link.ts';
import type { LtiResourceLink, LtiResourceLinkDb } from './lti-resource-link.ts';
import { ltiScoreSchema } from './lti-score.ts';
import type { LtiScore, LtiScoreDb } from './lti-score.ts';
import { mediumSchema } from './medium.ts';
import type { StoredMedium, MediumDb } from './medium.ts';
import { organizationSchema } from './organization.ts';
import type { Organization, OrganizationDb } from './organization.ts';
import { playerReleaseSchema } from './player-release.ts';
import type { StoredPlayerRelease, PlayerReleaseDb } from './player-release.ts';
import { preparedPartSchema } from './prepared-lesson.ts';
import type { PreparedPart, PreparedLessonDb } from './prepared-lesson.ts';
import { remoteFileSchema } from './remote-file.ts';
import type { RemoteFile, RemoteFileDb } from './remote-file.ts';
import { tokenRevocationSchema } from './token-revocation.ts';
import type { TokenRevocation, TokenRevocationDb } from './token-revocation.ts';
import { userSchema } from './user.ts';
import type { User, UserDb } from './user.ts';
import { widgetReleaseSchema } from './widget-release.ts';
import type { WidgetRelease, WidgetReleaseDb } from './widget-release.ts';

/** The collections of one MongoDB database: all that the operations of the models take first. */
export interface Database
  extends
    OrganizationDb,
    ApiKeyDb,
    AssetNoteDb,
    UserDb,
    LessonDb,
    LessonVersionDb,
    LessonContentDb,
    MediumDb,
    WidgetReleaseDb,
    ExternalWidgetDb,
    ExportRecordDb,
    RemoteFileDb,
    TokenRevocationDb,
    EmbedProgressDb,
    LtiProgressDb,
    CourseDb,
    LtiKeyDb,
    LtiLineItemDb,
    LtiPlatformDb,
    LtiRegistrationDb,
    LtiResourceLinkDb,
    LtiScoreDb,
    PlayerReleaseDb,
    PreparedLessonDb {
  connection: Connection;
}

/** Connects and binds the models. Indexes are a step of their own: {@link buildIndexes}. */
export async function openDatabase(uri: string): Promise<Database> {
  const connection = await connectMongo(uri);
  return {
    connection,
    organizations: connection.model<Organization>('Organization', organizationSchema, 'organizations'),
    apiKeys: connection.model<ApiKey>('ApiKey', apiKeySchema, 'apiKeys'),
    assetNotes: connection.model<AssetNote>('AssetNote', assetNoteSchema, 'assetNotes'),
    users: connection.model<User>('User', userSchema, 'users'),
    lessons: connection.model<Lesson>('Lesson', lessonSchema, 'lessons'),
    lessonVersions: connection.model<LessonVersion>('LessonVersion', lessonVersionSchema, 'lessonVersions'),
    lessonContents: connection.model<ContentPart>('LessonContent', lessonContentSchema, 'lessonContents'),
    media: connection.model<StoredMedium>('Medium', mediumSchema, 'media'),
    widgetReleases: connection.model<WidgetRelease>('WidgetRelease', widgetReleaseSchema, 'widgetReleases'),
    externalWidgets: connection.model<ExternalWidget>(
      'ExternalWidget',
      externalWidgetSchema,
      'externalWidgets',
    ),
    exportRecords: connection.model<StoredExportRecord>('ExportRecord', exportRecordSchema, 'exportRecords'),
    remoteFiles: connection.model<RemoteFile>('RemoteFile', remoteFileSchema, 'remoteFiles'),
    tokenRevocations: connection.model<TokenRevocation>(
      'TokenRevocation',
      tokenRevocationSchema,
      'tokenRevocations',
    ),
    embedProgress: connection.model<EmbedProgress>('EmbedProgress', embedProgressSchema, 'embedProgress'),
    ltiProgress: connection.model<LtiProgress>('LtiProgress', ltiProgressSchema, 'ltiProgress'),
    courses: connection.model<Course>('Course', courseSchema, 'courses'),
    ltiKeys: connection.model<LtiKey>('LtiKey', ltiKeySchema, 'ltiKeys'),
    ltiLineItems: connection.model<LtiLineItem>('LtiLineItem', ltiLineItemSchema, 'ltiLineItems'),
    ltiPlatforms: connection.model<LtiPlatform>('LtiPlatform', ltiPlatformSchema, 'ltiPlatforms'),
    ltiRegistrations: connection.model<LtiRegistration>(
      'LtiRegistration',
      ltiRegistrationSchema,
      'ltiRegistrations',
    ),
    ltiResourceLinks: connection.model<LtiResourceLink>(
      'LtiResourceLink',
      ltiResourceLinkSchema,
      'ltiResourceLinks',
    ),
    ltiScores: connection.model<LtiScore>('LtiScore', ltiScoreSchema, 'ltiScores'),
    playerReleases: connection.model<StoredPlayerRelease>(
      'PlayerRelease',
      playerReleaseSchema,
      'playerReleases',
    ),
    preparedParts: connection.model<PreparedPart>('PreparedPart', preparedPartSchema, 'preparedParts'),
  };
}

function modelsOf(db: Database): Model<unknown>[] {
  return Object.values(db.connection.models) as Model<unknown>[];
}

/** Creates the indexes that are missing. Every process does so before it serves; doing it twice is harmless. */
export async function buildIndexes(db: Database): Promise<void> {
  for (const model of modelsOf(db)) await model.createIndexes();
}

/** The indexes that should exist and do not, as "collection: fields". */
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
