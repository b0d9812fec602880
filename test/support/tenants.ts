import { randomBytes, randomUUID } from 'node:crypto';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { requestErasure } from '../../shared/erasure/erase.ts';
import { createPlatform } from '../../shared/models/lti-platform.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { hashPassword } from '../../shared/platform/passwords.ts';
import { PreparedLessons } from '../../shared/player/prepared-lessons.ts';
import { bytesOf } from '../../shared/storage/digest.ts';
import { releaseWidget } from '../../shared/widgets/releases.ts';
import {
  buildLaunchToken,
  buildLearnerToken,
  buildOrganization,
  buildPackage,
  buildVersion,
} from './factories.ts';
import { testPepper } from './harness.ts';
import type { Harness } from './harness.ts';
import { createDestination } from '../../shared/xapi/destinations.ts';
import { insertReport } from '../../shared/models/conversion-report.ts';
import { createWebhook, testWebhook } from '../../shared/webhooks/manage.ts';
import { begin as beginUpload } from '../imports/uploads.ts';
import { ask, jsonOf } from './answers.ts';
import { addLesson } from '../lessons/lessons.ts';
import { buildUser, cookieOf, postSession } from '../accounts/users.ts';

/** The ids that a request or a token can name. */
export type IdName = keyof ReturnType<typeof unknownIds>;
export type Ids = Record<IdName, string>;

/** An organization with one object of each kind, and its credentials. */
export interface Tenant {
  organization: Organization;
  version: LessonVersion;
  ids: Ids;
  /** The issuer of its learners' platform. */
  issuer: string;
  /** The Authorization header of an API key. */
  authorization: string;
  /** The session cookie of the user with the email address. */
  cookie: string;
  password: string;
}

const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5E',
  'base64',
);

/** Returns well-formed ids that do not exist. */
export function unknownIds({ cursor }: { cursor: string }) {
  const [lessonId, versionId] = [randomUUID(), randomUUID()];
  return {
    lessonId,
    versionId,
    claimedLessonId: lessonId,
    claimedVersionId: versionId,
    learnerId: `learner-${randomUUID()}`,
    ltiUserId: `user-${randomUUID()}`,
    platformId: randomUUID(),
    contextId: `context-${randomUUID()}`,
    mediaId: randomUUID(),
    chunkId: randomBytes(32).toString('base64url'),
    widgetType: `Dial${randomBytes(4).toString('hex')}`,
    widgetId: `question-${randomUUID()}`,
    writeId: randomUUID(),
    // The same time with another id.
    cursor: cursor.slice(0, 12) + randomUUID().replaceAll('-', ''),
    email: `${randomUUID()}@example.com`,
    webhookId: randomUUID(),
    deliveryId: `evt_${randomUUID()}`,
    destinationId: randomUUID(),
    importId: randomUUID(),
    erasureId: randomUUID(),
    userId: randomUUID(),
  };
}

/** Builds an organization with a user, and with a published lesson that a learner and a platform's user have begun. */
export async function buildTenant(harness: Harness, api: string): Promise<Tenant> {
  const { organization, headers } = await buildOrganization(harness);
  await addLesson(harness, organization);
  const { widgetType, widgetId, ...names } = unknownIds({ cursor: '0'.repeat(44) });
  const version = await buildLesson(harness, organization, { widgetType, widgetId });
  const lesson = { lessonId: version.lessonId, versionId: version._id };
  await insertReport(harness.db, version._id, { format: 'gift', entries: [] });
  const password = `a password that is ${randomUUID()}`;
  const passwordHash = await hashPassword(password);
  const { user } = await buildUser(harness, { organization, role: 'admin', passwordHash });
  const issuer = await buildPlatform(harness, organization);
  const { chunks = [] } = (await new PreparedLessons(harness.db, 1024 ** 2).facts(version._id)) ?? {};
  const tenant: Tenant = {
    organization,
    version,
    issuer,
    ids: {
      ...names,
      ...lesson,
      claimedLessonId: lesson.lessonId,
      claimedVersionId: lesson.versionId,
      mediaId: version.mediaId,
      chunkId: chunks[0]?.id ?? '',
      widgetType,
      widgetId,
      cursor: await cursorOf(api, headers),
      email: user.email,
      userId: user._id,
      ...(await buildWebhook(harness, organization)),
      importId: await buildUpload(api, headers),
      erasureId: await buildErasure(harness, organization),
    },
    authorization: headers.authorization,
    cookie: cookieOf(await postSession(api, { email: user.email, password })),
    password,
  };
  for (const token of [tokenOf(tenant, tenant.ids), launchTokenOf(tenant, tenant.ids)]) {
    await begin(api, tenant.ids, token);
  }
  return tenant;
}

/** Creates a webhook without a reachable receiver, and a delivery. */
export async function buildWebhook({ db }: Harness, { _id: organizationId }: Organization) {
  const settings = { url: 'https://receiver.invalid', types: ['lesson.published' as const], description: '' };
  const { webhook } = await createWebhook(db, testPepper, organizationId, settings);
  const webhookId = webhook._id;
  const destination = await createDestination(db, testPepper, organizationId, {
    ...{ endpoint: 'https://lrs.invalid', username: 'lectern', password: 'secret', version: '1.0.3' },
    ...{ verbs: ['completed'], pseudonyms: false, passingScore: null },
  });
  const destinationId = destination._id;
  return { webhookId, destinationId, deliveryId: await testWebhook(db, { id: webhookId, organizationId }) };
}

/** Begins an upload; returns the id of its import. */
async function buildUpload(url: string, headers: { authorization: string }): Promise<string> {
  return (jsonOf(await beginUpload({ url, headers }, 10)) as { id: string }).id;
}

/** Requests the erasure of a learner without records; returns its id. */
async function buildErasure({ db }: Harness, { _id: organizationId }: Organization): Promise<string> {
  const learner = { source: 'embed' as const, organizationId, learnerId: `erased-${randomUUID()}` };
  return (await requestErasure({ db, pepper: testPepper }, learner))._id;
}

/** Registers an unreachable learning platform; returns its issuer. */
export async function buildPlatform({ db }: Harness, { _id, slug }: Organization): Promise<string> {
  const issuer = `https://${slug}.example`;
  await createPlatform(db, {
    organizationId: _id,
    issuer,
    clientId: 'lectern',
    deploymentIds: ['1'],
    authUrl: `${issuer}/auth`,
    tokenUrl: `${issuer}/token`,
    jwksUrl: `${issuer}/jwks`,
    tokenAudience: null,
    name: null,
    status: 'active',
  });
  return issuer;
}

/** Returns an embed token for these ids. */
export function tokenOf(
  { organization }: Pick<Tenant, 'organization'>,
  { claimedLessonId: lessonId, learnerId }: Ids,
  versionId?: string,
): string {
  const overrides = { learnerId, ...(versionId !== undefined && { versionId }) };
  return buildLearnerToken({ organizationId: organization._id, lessonId }, overrides);
}

/** Returns a launch token for these ids. */
export function launchTokenOf(
  { organization }: Pick<Tenant, 'organization'>,
  { claimedLessonId: lessonId, ltiUserId, platformId, contextId }: Ids,
): string {
  const user = { ltiUserId, platformId, contextId };
  return buildLaunchToken({ organizationId: organization._id, lessonId }, user);
}

/** Returns a player's write after the first answer. */
export function writeOf({ versionId, writeId, widgetId }: Ids): object {
  const place = { currentSectionIndex: 0, currentStepIndex: 0 };
  return { versionId, writeId, ...place, items: [{ widgetId, answer: ['a'] }] };
}

async function buildLesson(
  harness: Harness,
  organization: Organization,
  { widgetType, widgetId }: Pick<Ids, 'widgetType' | 'widgetId'>,
): Promise<LessonVersion & { mediaId: string }> {
  const js = bytesOf(Buffer.from(`export default '${widgetType}'`));
  const release = { organizationId: organization._id, type: widgetType, js, css: null };
  await releaseWidget(harness.db, harness.store, release);
  const { path, mediaIds } = await buildPackage({
    media: [{ bytes: Buffer.concat([picture, randomBytes(8)]) }],
    blocks: ([mediaId]) => [
      { type: 'Image', props: { id: 'Image-1', src: `media:${mediaId}`, alt: '', caption: '' } },
      { type: 'MultipleChoice', props: { id: widgetId, choices: [{ id: 'a', html: 'A' }], correct: ['a'] } },
      { type: widgetType, props: { id: 'Dial-1' } },
    ],
  });
  return { ...(await buildVersion(harness, organization, path)), mediaId: mediaIds[0] ?? '' };
}

async function cursorOf(api: string, headers: { authorization: string }): Promise<string> {
  const page = jsonOf(await ask(`${api}/api/lessons?limit=1`, { headers })) as { nextCursor: string };
  return page.nextCursor;
}

/** Sends a learner's first write with the learner's token. */
export async function begin(api: string, ids: Ids, token: string): Promise<void> {
  const answer = await ask(`${api}/api/public/lessons/${ids.lessonId}/session?token=${token}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(writeOf(ids)),
  });
  if (answer.status !== 200)
    throw new Error(`The write answered ${answer.status}: ${answer.body.toString()}`);
}
