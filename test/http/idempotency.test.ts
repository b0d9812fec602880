import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import { endpoints } from '../../api/app.ts';
import { keyLimits } from '../../api/http/idempotency.ts';
import { createDraft, deleteDraft } from '../../shared/models/lesson-draft.ts';
import { issueApiKey } from '../../shared/models/api-key.ts';
import { claimRequest, releaseRequest } from '../../shared/models/idempotent-request.ts';
import { createUploads } from '../../shared/imports/create-uploads.ts';
import { findWebhook, insertWebhook } from '../../shared/models/webhook.ts';
import { rotatedMeanwhile, rotateWebhookSecret } from '../../shared/webhooks/manage.ts';
import { deriveWebhookSecret, sealWebhookSecret } from '../../shared/webhooks/secrets.ts';
import { useLesson } from '../player/player-lessons.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { buildOrganization } from '../support/factories.ts';
import { testPepper } from '../support/harness.ts';
import { useApi } from '../support/use.ts';
import { beginSession, buildUser, quickHash, testPassword } from '../accounts/users.ts';

const api = useApi();
const version = useLesson(api);
/** A lesson with a draft. */
const drafted = useLesson(api);
const webhook = { url: 'https://receiver.invalid/', events: ['progress.started' as const] };
const destination = { endpoint: 'https://lrs.invalid/xapi/', username: 'lectern', password: 'a password' };

/** A request that creates something, and how to count that. */
interface Creation {
  path: () => string;
  json?: object;
  headers?: Record<string, string>;
  /** How many there are of what it creates; null for a change. */
  count: (() => Promise<number>) | null;
  /** Removes what it has created, as if the process had died before the write. */
  remove?: (id: string) => Promise<unknown>;
  audit?: string;
  /** Whether an operator sends it, with a session. */
  byOperator?: true;
}

const platform = {
  ...{ issuer: 'https://moodle.invalid', clientId: 'lectern', deploymentIds: ['1'] },
  ...{ authUrl: 'https://moodle.invalid/a', tokenUrl: 'https://moodle.invalid/t' },
  jwksUrl: 'https://moodle.invalid/j',
};

const ofOrganization = () => ({ organizationId: api.organization._id });
let webhookId: string;
let userId: string;
let operatorSession: { cookie: string };
let otherOperatorId: string;
const invitedOperator = 'ops@acme.example';

beforeAll(async () => {
  const { user } = await buildUser(api, { role: 'operator', passwordHash: quickHash });
  operatorSession = await beginSession(api, { user });
  otherOperatorId = (await buildUser(api, { role: 'operator', passwordHash: quickHash })).user._id;
});

/** By operationId: every endpoint that accepts an idempotency key. */
const creations: Record<string, Creation> = {
  createLesson: {
    path: () => '/api/lessons',
    json: { title: 'Tides', language: 'en' },
    count: () => api.db.lessonVersions.countDocuments({ title: 'Tides' }).exec(),
    remove: (id) => api.db.lessonVersions.deleteOne({ _id: id }),
    audit: 'lesson.create',
  },
  copyVersion: {
    path: () => `/api/lessons/${version.lessonId}/versions/${version._id}/copies`,
    json: { title: 'A copy' },
    count: () => api.db.lessonVersions.countDocuments({ title: 'A copy' }).exec(),
    remove: (id) => api.db.lessonVersions.deleteOne({ _id: id }),
    audit: 'lesson.copy',
  },
  createWebhook: {
    path: () => '/api/webhooks',
    json: webhook,
    count: () => api.db.webhooks.countDocuments(ofOrganization()).exec(),
    remove: (id) => api.db.webhooks.deleteOne({ _id: id }),
    audit: 'webhook.create',
  },
  rotateWebhookSecret: {
    path: () => `/api/webhooks/${webhookId}/rotate`,
    count: null,
    audit: 'webhook.rotate',
  },
  testWebhook: {
    path: () => `/api/webhooks/${webhookId}/test`,
    count: () => api.db.eventDeliveries.countDocuments({ targetId: webhookId }).exec(),
    remove: (id) => api.db.eventDeliveries.deleteOne({ _id: id }),
  },
  createXapiDestination: {
    path: () => '/api/xapi-destinations',
    json: destination,
    count: () => api.db.xapiDestinations.countDocuments(ofOrganization()).exec(),
    remove: (id) => api.db.xapiDestinations.deleteOne({ _id: id }),
    audit: 'destination.create',
  },
  createPreviewLink: {
    path: () => `/api/lessons/${version.lessonId}/versions/${version._id}/preview-links`,
    count: null,
    audit: 'preview.create',
  },
  beginImport: {
    path: () => '/api/lessons/imports',
    headers: { 'tus-resumable': '1.0.0', 'upload-length': '1000' },
    count: () => api.db.lessonImports.countDocuments(ofOrganization()).exec(),
    remove: async (id) => (await createUploads(api.config, api.db)).remove(id),
  },
  createDraft: {
    path: () => `/api/lessons/${version.lessonId}/draft`,
    json: {},
    count: () => api.db.lessonDrafts.countDocuments(ofOrganization()).exec(),
    remove: (id) => deleteDraft(api.db, { _id: id }),
    audit: 'draft.create',
  },
  publishDraft: {
    path: () => `/api/lessons/${drafted.lessonId}/draft/publish`,
    json: {},
    count: () => api.db.lessonImports.countDocuments(ofOrganization()).exec(),
    remove: (id) => api.db.lessonImports.deleteOne({ _id: id }),
    audit: 'draft.publish',
  },
  createUser: {
    path: () => '/api/users',
    json: { email: 'ada@acme.example', role: 'author' },
    count: () => api.db.users.countDocuments(ofOrganization()).exec(),
    remove: (id) => api.db.users.deleteOne({ _id: id }),
    audit: 'user.invite',
  },
  inviteUser: {
    path: () => `/api/users/${userId}/invitation`,
    count: null,
    audit: 'user.invite',
  },
  createApiKey: {
    path: () => '/api/keys',
    json: { label: 'the shop' },
    count: () => api.db.apiKeys.countDocuments(ofOrganization()).exec(),
    remove: (publicKey) => api.db.apiKeys.deleteOne({ _id: publicKey }),
    audit: 'key.create',
  },
  rotateApiKey: {
    path: () => `/api/keys/${api.credentials.split('.')[0]}/rotate`,
    json: {},
    count: () => api.db.apiKeys.countDocuments(ofOrganization()).exec(),
    remove: (publicKey) => api.db.apiKeys.deleteOne({ _id: publicKey }),
    audit: 'key.rotate',
  },
  addPlatform: {
    path: () => '/api/platforms',
    json: platform,
    count: () => api.db.ltiPlatforms.countDocuments(ofOrganization()).exec(),
    remove: (id) => api.db.ltiPlatforms.deleteOne({ _id: id }),
    audit: 'platform.add',
  },
  createPlatformRegistration: {
    path: () => '/api/platform-registrations',
    count: () => api.db.ltiRegistrations.countDocuments(ofOrganization()).exec(),
    remove: (id) => api.db.ltiRegistrations.deleteOne({ _id: id }),
    audit: 'platform.invite',
  },
  createOrganization: {
    path: () => '/api/operator/organizations',
    json: { slug: 'idempotent', name: 'An organization', plan: 'solo' },
    count: () => api.db.organizations.countDocuments({ slug: 'idempotent' }).exec(),
    remove: (id) => api.db.organizations.deleteOne({ _id: id }),
    byOperator: true,
  },
  inviteOrganizationUser: {
    path: () => `/api/operator/organizations/${api.organization._id}/users`,
    json: { email: 'ada@acme.example', role: 'admin' },
    count: () => api.db.users.countDocuments(ofOrganization()).exec(),
    remove: (id) => api.db.users.deleteOne({ _id: id }),
    byOperator: true,
  },
  createOperator: {
    path: () => '/api/operator/users',
    json: { email: invitedOperator },
    count: () => api.db.users.countDocuments({ email: invitedOperator }).exec(),
    remove: (id) => api.db.users.deleteOne({ _id: id }),
    byOperator: true,
  },
  inviteOperator: {
    path: () => `/api/operator/users/${otherOperatorId}/invitation`,
    json: { password: testPassword },
    count: null,
    byOperator: true,
  },
};

beforeEach(async () => {
  for (const name of [
    'webhooks',
    'xapiDestinations',
    'lessonImports',
    'eventDeliveries',
    'lessonDrafts',
  ] as const) {
    await api.db[name].collection.deleteMany({});
  }
  for (const name of ['ltiPlatforms', 'ltiRegistrations', 'users'] as const)
    await api.db[name].collection.deleteMany(ofOrganization());
  await api.db.organizations.deleteMany({ slug: 'idempotent' });
  await api.db.users.deleteMany({ email: invitedOperator });
  const { lessonId, _id: versionId } = drafted;
  const draft = { _id: randomUUID(), lessonId, versionId, ...ofOrganization(), skeleton: '{}' };
  await createDraft(api.db, draft, [], { type: 'key', id: 'a key' });
  const { organization } = api;
  userId = (await buildUser(api, { organization, passwordHash: quickHash })).user._id;
  webhookId = randomUUID();
  const secret = sealWebhookSecret(deriveWebhookSecret(webhookId, testPepper), webhookId, testPepper);
  const { url, events: types } = webhook;
  await insertWebhook(api.db, { _id: webhookId, ...ofOrganization(), url, types, description: '', secret });
  await api.db.idempotentRequests.deleteMany({});
});

function send(
  { path, json, headers, byOperator }: Creation = { path: () => '', count: null },
  key: string,
  more: Record<string, string> = {},
): Promise<Answer> {
  return ask(api.url + path(), {
    method: 'POST',
    headers: {
      ...(byOperator ? operatorSession : api.headers),
      ...{ ...headers, 'idempotency-key': key },
      ...(json && { 'content-type': 'application/json' }),
      ...more,
    },
    ...(json && { body: JSON.stringify(json) }),
  });
}

const textOf = ({ body }: Answer) => body.toString();
const isReplay = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';

/** Returns the id of what a request created, and its secret, if it has one. */
function createdBy(answer: Answer) {
  const body = jsonOf(answer) as Partial<Record<'id' | 'publicKey' | 'secret' | 'credentials', string>> & {
    invitation?: { token: string };
  };
  return { id: body.id ?? body.publicKey, secret: body.secret ?? body.credentials ?? body.invitation?.token };
}

/** Makes Lectern's state what it is when the process dies before it has stored the response. */
const loseResponse = () => api.db.idempotentRequests.updateMany({}, { $set: { response: null } });

test('every POST that answers 201 accepts an idempotency key', () => {
  const accepting = endpoints.filter(({ idempotent }) => idempotent).map(({ operationId }) => operationId);
  expect(accepting.toSorted()).toEqual(Object.keys(creations).toSorted());
  const creating = endpoints.filter(({ method, responses }) => method === 'post' && 201 in responses);
  const creatingNames = creating.map(({ operationId }) => operationId);
  expect(creatingNames.filter((name) => !accepting.includes(name))).toEqual([]);
});

test.each(Object.entries(creations))(
  '%s: of concurrent requests with one key, exactly one runs; later ones get its response',
  async (_, creation) => {
    const key = randomUUID();
    const before = (await creation.count?.()) ?? 0;
    const answers = await Promise.all(Array.from({ length: 3 }, () => send(creation, key)));
    const [first, ...others] = answers.filter((answer) => answer.status < 300 && !isReplay(answer));
    expect(others).toEqual([]);
    for (const answer of answers) expect([first?.status, 409]).toContain(answer.status);
    const again = await send(creation, `"${key}"`);
    expect({ ...again, headers: isReplay(again) }).toEqual({ ...first, headers: true });
    for (const name of ['location', 'cache-control', 'content-type', 'tus-resumable']) {
      expect(again.headers.get(name)).toBe(first?.headers.get(name));
    }
    if (creation.count !== null) expect(await creation.count()).toBe(before + 1);
    if (creation.audit !== undefined) {
      const log = jsonOf(
        await ask(`${api.url}/api/audit?action=${creation.audit}`, { headers: api.headers }),
      ) as { entries: { requestId: string }[] };
      const ids = answers.concat(again).map(({ headers }) => headers.get('x-request-id'));
      expect(log.entries.filter(({ requestId }) => ids.includes(requestId))).toHaveLength(1);
    }
  },
);

test.each(Object.entries(creations))(
  '%s: a process dies after the write, or before it: the repeated request creates nothing twice',
  async (_, creation) => {
    const key = randomUUID();
    const before = (await creation.count?.()) ?? 0;
    const first = await send(creation, key);
    const created = createdBy(first);
    await loseResponse();
    const second = await send(creation, key);
    await creation.remove?.(created.id ?? '');
    await loseResponse();
    const third = await send(creation, key);
    for (const answer of [second, third]) {
      expect({ status: answer.status, isReplay: isReplay(answer) }).toEqual({
        status: first.status,
        isReplay: false,
      });
      expect(createdBy(answer)).toEqual(created);
    }
    if (creation.count !== null) expect(await creation.count()).toBe(before + 1);
  },
);

test('a rotation that is repeated after a crash keeps the secret before it', async () => {
  const { secret } = await api.db.webhooks.findById(webhookId).orFail();
  const key = randomUUID();
  for (let times = 0; times < 2; times += 1) {
    await send(creations.rotateWebhookSecret, key);
    await loseResponse();
  }
  expect(await api.db.webhooks.findById(webhookId).orFail()).toMatchObject({ previousSecret: secret });
});

test('one of two concurrent rotations is rejected, and each returned secret signs', async () => {
  const key = { id: webhookId, ...ofOrganization() };
  const before = await findWebhook(api.db, webhookId);
  const { webhook } = await rotateWebhookSecret(api.db, testPepper, key, 60);
  // A request that has read the webhook before the rotation.
  const findOne = () => ({ lean: () => ({ exec: () => Promise.resolve(before) }) });
  const webhooks = Object.create(api.db.webhooks, { findOne: { value: findOne } }) as typeof api.db.webhooks;
  const late = rotateWebhookSecret({ ...api.db, webhooks }, testPepper, key, 60);
  await expect(late).rejects.toMatchObject({ code: 'CONFLICT', message: rotatedMeanwhile });
  expect(await findWebhook(api.db, webhookId)).toEqual(webhook);
});

test('after an error that may have left something, the key keeps its reserved id', async () => {
  const request = { _id: randomUUID(), ...ofOrganization(), actor: 'key:x', fingerprint: 'x' };
  const first = await claimRequest(api.db, request, keyLimits);
  if (first.kind !== 'claimed') throw new Error(first.kind);
  expect(await claimRequest(api.db, request, keyLimits)).toEqual({ kind: 'running' });
  await releaseRequest(api.db, { ...request, ...first });
  expect(await claimRequest(api.db, request, keyLimits)).toMatchObject({
    kind: 'claimed',
    newId: first.newId,
  });
});

test('a request whose first run has not ended gets 409 with a delay, until the lease of its process expires', async () => {
  const key = randomUUID();
  await send(creations.testWebhook, key);
  const lease = (leaseUntil: Date) =>
    api.db.idempotentRequests.updateMany({}, { $set: { response: null, leaseId: 'x', leaseUntil } });
  await lease(new Date(Date.now() + 60_000));
  const early = await send(creations.testWebhook, key);
  expectError(
    early,
    409,
    'The first request with this Idempotency-Key is still running; try again in 2 seconds',
  );
  expect(early.headers.get('retry-after')).toBe('2');
  await lease(new Date());
  expect((await send(creations.testWebhook, key)).status).toBe(202);
});

/** Returns the header of other credentials. */
async function otherKey(organizationId: string): Promise<{ authorization: string }> {
  const given = { organizationId, label: null, expiresAt: null };
  const { publicKey, secretKey } = await issueApiKey(api.db, testPepper, given);
  return { authorization: `Bearer ${publicKey}.${secretKey}` };
}

test('a key of another request gets 422: another body or endpoint; spelling does not count', async () => {
  const key = randomUUID();
  const first = await send(creations.createWebhook, key);
  const others = [
    await send({ path: () => '/api/webhooks', json: { ...webhook, description: 'x' }, count: null }, key),
    await send(creations.createXapiDestination, key),
  ];
  for (const answer of others) {
    expectError(
      answer,
      422,
      'Idempotency-Key was used for another request; send a new key with each new request',
    );
  }
  const { url, events } = webhook;
  const reordered = await send(
    { path: () => '/api/webhooks', json: { description: '', events, url }, count: null },
    key,
  );
  expect(textOf(reordered)).toBe(textOf(first));
});

test('a rejected request releases its key; neither other credentials nor other organizations meet it', async () => {
  const key = randomUUID();
  const unknown = { path: () => `/api/webhooks/${randomUUID()}/test`, count: null };
  expect((await send(unknown, key)).status).toBe(404);
  expect((await send(creations.createWebhook, key)).status).toBe(201);
  const { headers } = await buildOrganization(api);
  for (const other of [headers, await otherKey(api.organization._id)]) {
    const theirs = await send(creations.createWebhook, key, other);
    expect({ status: theirs.status, isReplay: isReplay(theirs) }).toEqual({ status: 201, isReplay: false });
  }
});

test('the stored request names neither the key nor a secret', async () => {
  const key = randomUUID();
  const { secret } = jsonOf(await send(creations.createWebhook, key)) as { secret: string };
  const stored = JSON.stringify(await api.db.idempotentRequests.find({}).lean());
  for (const text of [key, secret, webhook.url]) expect(stored).not.toContain(text);
});

test('malformed keys are rejected', async () => {
  for (const key of ['two words', 'ü', 'x'.repeat(256), '""']) {
    expectError(
      await send(creations.testWebhook, key),
      400,
      'Idempotency-Key must be 1 to 255 visible ASCII characters without spaces',
    );
  }
});

/** Stores requests of an actor. */
async function plant(organizationId: string, actor: string, count: number): Promise<void> {
  await api.db.idempotentRequests.collection.insertMany(
    Array.from({ length: count }, () => ({
      ...{ _id: randomUUID() as never, organizationId, actor, fingerprint: '', newId: '', response: null },
      ...{ expiresAt: new Date(Date.now() + 3600_000), leaseId: null, leaseUntil: null },
    })),
  );
}

test('a tenant cannot fill the database, nor an API key use up the share of the others; without a key, requests run', async () => {
  const { organization, headers } = await buildOrganization(api);
  const sendNew = (more: Record<string, string>) => send(creations.createWebhook, randomUUID(), more);
  expect((await sendNew(headers)).status).toBe(201);
  const { actor } = await api.db.idempotentRequests.findOne({ organizationId: organization._id }).orFail();
  await plant(organization._id, actor, keyLimits.perActor - 1);
  const hint = 'idempotency keys in 24 hours; try again in 3600 seconds';
  expectError(await sendNew(headers), 429, `These credentials have sent 2000 ${hint}`);
  const other = await otherKey(organization._id);
  expect((await sendNew(other)).status).toBe(201);

  await plant(organization._id, 'key:another', keyLimits.perOrganization - keyLimits.perActor - 1);
  expectError(await sendNew(other), 429, `Your organization has sent 10000 ${hint}`);
  const answer = await ask(`${api.url}/api/webhooks`, {
    ...{ method: 'POST', body: JSON.stringify(webhook) },
    headers: { ...headers, 'content-type': 'application/json' },
  });
  expect(answer.status).toBe(201);
  expect((await sendNew({})).status).toBe(201);
});
