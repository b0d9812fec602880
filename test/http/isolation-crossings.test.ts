import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { revokeTokens } from '../../shared/models/token-revocation.ts';
import { buildPackage, buildVersion } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { buildTenant, launchTokenOf, tokenOf, unknownIds } from '../support/tenants.ts';
import type { Tenant } from '../support/tenants.ts';

let harness: Harness;
let address: string;
let owner: Tenant;
let stranger: Tenant;

beforeAll(async () => {
  harness = await startHarness();
  address = await harness.startApi();
  stranger = await buildTenant(harness, address);
  owner = await buildTenant(harness, address);
});
afterAll(() => harness.close());

const lessonOf = ({ ids }: Tenant) => `${address}/api/public/lessons/${ids.lessonId}`;

describe("a token for one organization's lesson, sent to another organization's lesson,", () => {
  test.each([
    ['embed token', (tenant: Tenant) => tokenOf(tenant, tenant.ids)],
    ['embed token for one version', (tenant: Tenant) => tokenOf(tenant, tenant.ids, tenant.ids.versionId)],
    ['launch token', (tenant: Tenant) => launchTokenOf(tenant, tenant.ids)],
  ])('gets an error everywhere: %s', async (_kind, tokenFor) => {
    const own = tokenFor(owner);
    const { mediaId, widgetType } = stranger.ids;
    for (const rest of ['player-data', 'session', `media/${mediaId}`, `widgets/${widgetType}.js`]) {
      const answer = await ask(`${lessonOf(stranger)}/${rest}?token=${own}`);
      expectError(answer, 403, 'Token does not grant access to this lesson');
    }
  });
});

test('a media file is visible only to its organization, and its signed URL works for any holder', async () => {
  const { mediaId } = owner.ids;
  const found = await ask(`${lessonOf(owner)}/media/${mediaId}?token=${tokenOf(owner, owner.ids)}`);
  expect(found.status).toBe(302);
  const file = await ask(new URL(found.headers.get('location') ?? '', address).href);
  expect({ status: file.status, type: file.headers.get('content-type') }).toEqual({
    status: 200,
    type: 'image/png',
  });
  const own = tokenOf(stranger, stranger.ids);
  expectError(await ask(`${lessonOf(stranger)}/media/${mediaId}?token=${own}`), 404, 'Media file not found');
});

test("a lesson that references another organization's media file and widget gets neither", async () => {
  const { mediaId, widgetType } = owner.ids;
  const { path } = await buildPackage({
    blocks: () => [
      { type: 'Image', props: { id: 'Image-1', src: `media:${mediaId}`, alt: '', caption: '' } },
      { type: widgetType, props: { id: 'Dial-1' } },
    ],
  });
  const { lessonId } = await buildVersion(harness, stranger.organization, path);
  const token = tokenOf(stranger, { ...stranger.ids, claimedLessonId: lessonId });
  const at = `${address}/api/public/lessons/${lessonId}`;
  expectError(await ask(`${at}/media/${mediaId}?token=${token}`), 404, 'Media file not found');
  expectError(await ask(`${at}/widgets/${widgetType}.js?token=${token}`), 404, 'Widget not found');
});

test('two organizations may use the same learner id and media id independently', async () => {
  const media = { id: owner.ids.mediaId, bytes: Buffer.from('another picture') };
  const { path } = await buildPackage({ media: [media] });
  const { lessonId } = await buildVersion(harness, stranger.organization, path);
  const { learnerId } = owner.ids;
  const token = tokenOf(stranger, { ...stranger.ids, claimedLessonId: lessonId, learnerId });
  const at = `${address}/api/public/lessons/${lessonId}`;
  const found = await ask(`${at}/media/${media.id}?token=${token}`);
  const file = await ask(new URL(found.headers.get('location') ?? '', address).href);
  expect(file.body.toString()).toBe('another picture');
  expect(jsonOf(await ask(`${at}/session?token=${token}`))).toMatchObject({ learnerId, revision: 0 });
});

test("a cursor from one organization's list shows another organization only its own lessons", async () => {
  const listAt = async (tenant: Tenant, cursor: string) => {
    const { authorization } = tenant;
    const answer = await ask(`${address}/api/lessons?cursor=${cursor}`, { headers: { authorization } });
    return (jsonOf(answer) as { lessons: { id: string }[] }).lessons.map(({ id }) => id);
  };
  const [owned] = await listAt(owner, owner.ids.cursor);
  const seen = await listAt(stranger, owner.ids.cursor);
  expect(owned).toBeTypeOf('string');
  expect(seen).toContain(stranger.ids.lessonId);
  expect(seen).not.toContain(owned);
  expect(seen).toStrictEqual(await listAt(stranger, unknownIds(owner.ids).cursor));
});

test("one organization's token revocation leaves other organizations' tokens valid", async () => {
  const [lessonId, learnerId] = [stranger.ids.lessonId, `learner-${randomUUID()}`];
  const token = tokenOf(stranger, { ...stranger.ids, learnerId });
  const organizationId = owner.organization._id;
  const now = new Date(Date.now() + 60_000);
  await revokeTokens(harness.db, { organizationId, lessonId: null, learnerId: null }, now);
  await revokeTokens(harness.db, { organizationId, lessonId, learnerId }, now);
  expect((await ask(`${lessonOf(stranger)}/session?token=${token}`)).status).toBe(200);
  const own = tokenOf(owner, owner.ids);
  expectError(
    await ask(`${lessonOf(owner)}/session?token=${own}`),
    401,
    'Token verification failed: Token revoked',
  );
});
