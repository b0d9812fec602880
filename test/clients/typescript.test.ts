import { randomBytes, randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  AuthenticationError,
  ConnectionError,
  InvalidRequestError,
  Lectern,
  LecternError,
  NotFoundError,
  RateLimitError,
  VerificationError,
  verifyWebhook,
} from '../../clients/typescript/src/index.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { deriveWebhookSecret, signedHeaders } from '../../shared/webhooks/secrets.ts';
import { picture } from '../packages/import-support.ts';
import { zipFolder } from '../packages/zip-builder.ts';
import { publishLesson, useLesson } from '../player/player-lessons.ts';
import { buildPackage, buildVersion } from '../support/factories.ts';
import { useApi } from '../support/use.ts';
import { temporaryFolder } from '../support/folders.ts';

const api = useApi({}, { worker: true });
const version = useLesson(api);

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

function connect(fetch?: Fetch): Lectern {
  const { url, credentials } = api;
  return new Lectern({ url, credentials, ...(fetch && { fetch }) });
}

/** Returns a network that ends the bodies of the first responses of archives after some bytes. */
function breaking({ afterBytes, times }: { afterBytes: number; times: number }) {
  const ranges: (string | null)[] = [];
  const fetch: Fetch = async (url, init) => {
    const response = await globalThis.fetch(url, init);
    if (!url.includes('export-zip') || response.status === 202 || response.body === null) return response;
    ranges.push(new Headers(init.headers).get('range'));
    if (ranges.length > times) return response;
    const chunks = (response.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    let left = afterBytes;
    const cut = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (left === 0) return controller.error(new TypeError('terminated'));
          const { value } = (await chunks.next()) as { value?: Uint8Array };
          const part = value?.subarray(0, left) ?? new Uint8Array();
          left -= part.length;
          controller.enqueue(part);
        },
        cancel: async () => void (await chunks.return?.()),
      },
      { highWaterMark: 0 },
    );
    const { status, headers: sent } = response;
    return new Response(cut, { status, headers: sent });
  };
  return { fetch, ranges };
}

test('lists iterate over all pages, and await the first', async () => {
  for (let count = 0; count < 3; count += 1) await publishLesson(api, api.organization);
  const lectern = connect();
  const ids: string[] = [];
  for await (const { id } of lectern.lessons.list({ limit: 1 })) ids.push(id);
  const first = await lectern.lessons.list({ limit: 1 });
  expect(new Set(ids).size).toBeGreaterThanOrEqual(4);
  expect(first.lessons.map(({ id }) => id)).toEqual(ids.slice(0, 1));
  expect((await lectern.lessons.list().toArray({ limit: 2 })).map(({ id }) => id)).toEqual(ids.slice(0, 2));
});

test('every list is an iterator, and awaits its first page', async () => {
  const lectern = connect();
  const webhook = await lectern.webhooks.create({
    url: 'https://receiver.invalid/',
    events: ['export.failed'],
  });
  const idsOf = async (items: AsyncIterable<{ id: string }>) => {
    const ids = [];
    for await (const { id } of items) ids.push(id);
    return ids;
  };
  expect(await idsOf(lectern.webhooks.list())).toEqual([webhook.id]);
  expect(await idsOf(lectern.lessons.versions(version.lessonId))).toEqual([version._id]);
  expect((await lectern.lessons.retrieve(version.lessonId)).latestVersion?.id).toBe(version._id);
  expect((await lectern.lessons.versions(version.lessonId)).versions).toHaveLength(1);
  for (const items of [
    lectern.imports.list(),
    lectern.xapiDestinations.list(),
    lectern.webhooks.deliveries(webhook.id),
  ]) {
    expect(await idsOf(items as AsyncIterable<{ id: string }>)).toEqual([]);
  }
  for await (const entry of lectern.audit.list({ limit: 1 }))
    expect(entry.action).toEqual(expect.any(String));
  await lectern.webhooks.delete(webhook.id);
});

test('errors have a class, a code, the message and the id of the request', async () => {
  const lectern = connect();
  const unknown = randomUUID();
  const failed = async (promise: PromiseLike<unknown>) => {
    const error = await Promise.resolve(promise).catch((thrown: unknown) => thrown);
    if (!(error instanceof LecternError)) throw new Error(String(error));
    expect(error.requestId).toMatch(/^[\w-]{36}$/);
    return error;
  };
  const missing = await failed(lectern.progress.retrieve(version.lessonId, unknown));
  expect(missing).toBeInstanceOf(NotFoundError);
  expect(missing).toMatchObject({ status: 404, code: 'NOT_FOUND', name: 'NotFoundError' });
  expect(missing.message).toBe('No progress found for this learner and lesson');
  expect(await failed(lectern.exports.manifest(unknown, unknown))).toMatchObject({ code: 'NOT_FOUND' });
  expect(await failed(lectern.lessons.list({ limit: 1000 }))).toBeInstanceOf(InvalidRequestError);
  const denied = { status: 403, headers: { 'error-code': 'FEATURE_NOT_AVAILABLE', 'x-request-id': unknown } };
  const unplanned = connect(() => Promise.resolve(Response.json({ error: 'no' }, denied)));
  expect(await failed(unplanned.lessons.list())).toMatchObject({ code: 'FEATURE_NOT_AVAILABLE' });
  const stranger = new Lectern({ url: api.url, credentials: 'lkp_x.lks_y' });
  expect(await failed(stranger.lessons.list())).toBeInstanceOf(AuthenticationError);
  const nowhere = new Lectern({ url: 'http://127.0.0.1:1', credentials: api.credentials, maxRetries: 0 });
  expect(await failed(nowhere.lessons.list())).toMatchObject({ code: 'CONNECTION_FAILED' });
  const silent = connect(
    (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Error('aborted')));
      }),
  );
  const once = { maxRetries: 0 };
  expect(await failed(silent.webhooks.list({ ...once, timeoutMs: 20 }))).toMatchObject({ code: 'TIMEOUT' });
  const aborted = await failed(silent.webhooks.list({ ...once, signal: AbortSignal.abort() }));
  expect(aborted).toBeInstanceOf(ConnectionError);
  expect(aborted.code).toBe('ABORTED');
});

test('temporary failures are retried, and no others', async () => {
  const sent: Response[] = [];
  const scripted = (...statuses: number[]) => {
    sent.length = 0;
    return connect(() => {
      const status = statuses[sent.length] ?? 200;
      const response = Response.json(
        { webhooks: [] },
        { status, headers: status === 429 ? { 'retry-after': '0' } : {} },
      );
      sent.push(response);
      return status === 0 ? Promise.reject(new TypeError('fetch failed')) : Promise.resolve(response);
    });
  };
  await scripted(429, 503).webhooks.list();
  expect(sent).toHaveLength(3);
  await expect(scripted(429, 429, 429).webhooks.list({ maxRetries: 2 })).rejects.toBeInstanceOf(
    RateLimitError,
  );
  expect(sent).toHaveLength(3);
  for (const status of [400, 403, 404, 500]) {
    await expect(scripted(status).webhooks.list()).rejects.toMatchObject({ status });
    expect(sent).toHaveLength(1);
  }
});

test('requests that send something are not repeated when they get no response', async () => {
  const requests: string[] = [];
  const [busy, lost] = [429, 0].map((status) =>
    connect((url) => {
      requests.push(url);
      if (status === 0) return Promise.reject(new TypeError('fetch failed'));
      return Promise.resolve(Response.json({}, { status, headers: { 'retry-after': '0' } }));
    }),
  ) as [Lectern, Lectern];
  const period = { since: '2026-11-21T00:00:00Z' };
  const calls: ((lectern: Lectern) => Promise<unknown>)[] = [
    ({ webhooks }) => webhooks.replay('one', period, { maxRetries: 1 }),
    ({ webhooks }) => webhooks.resend('one', 'two', { maxRetries: 1 }),
    ({ xapiDestinations }) => xapiDestinations.replay('one', period, { maxRetries: 1 }),
    ({ deliveries }) => deliveries.resend('one', { maxRetries: 1 }),
  ];
  for (const call of calls) {
    requests.length = 0;
    await expect(call(lost)).rejects.toMatchObject({ code: 'CONNECTION_FAILED' });
    expect(requests).toHaveLength(1);
    await expect(call(busy)).rejects.toBeInstanceOf(RateLimitError);
    expect(requests).toHaveLength(3);
  }
});

test('credentials leave this machine only over https, unless the caller allows http', () => {
  const connectTo = (url: string, allowHttp = false) =>
    new Lectern({ url, allowHttp, credentials: 'lkp_x.lks_y' });
  for (const url of ['https://x.example', 'http://localhost:3000/', 'http://127.0.0.1', 'http://[::1]:80'])
    expect(() => connectTo(url)).not.toThrow();
  expect(() => connectTo('http://api:3000', true)).not.toThrow();
  for (const url of ['http://api:3000', 'http://localhost.x.example', 'http://127.0.0.1:80@x.example'])
    expect(() => connectTo(url)).toThrow(
      `url is "${url}", and must begin with https://. To send credentials over http, set allowHttp: true.`,
    );
  expect(() => connectTo('x.example', true)).toThrow('url is "x.example", and must begin with https://.');
});

test('a webhook whose response gets lost is created once, with the secret of the first response', async () => {
  const keys: (string | null)[] = [];
  const lectern = connect(async (url, init) => {
    const response = await fetch(url, init);
    keys.push(new Headers(init.headers).get('idempotency-key'));
    if (keys.length === 1) throw new TypeError('fetch failed');
    return response;
  });
  const { id, secret } = await lectern.webhooks.create({
    url: 'https://receiver.invalid/',
    events: ['lesson.published'],
  });
  expect(keys).toEqual([keys[1], expect.stringMatching(/^[\w-]{36}$/)]);
  expect(secret).toMatch(/^whsec_/);
  expect((await connect().webhooks.list()).webhooks.map((webhook) => webhook.id)).toEqual([id]);
  await connect().webhooks.delete(id);
});

/** Publishes a lesson that lacks nothing: its archive stays the same. */
async function publishComplete(): Promise<[lessonId: string, versionId: string]> {
  const { path } = await buildPackage({ media: [picture(1)] });
  const { lessonId, _id } = await buildVersion(api, api.organization, path);
  return [lessonId, _id];
}

test('a download resumes where it broke off, in a later call too, and its bytes are right', async () => {
  const path = join(await temporaryFolder(), 'lesson.zip');
  const ids = await publishComplete();
  const { fetch, ranges } = breaking({ afterBytes: 1000, times: 2 });
  const statuses: string[] = [];
  const controller = new AbortController();
  const options = {
    ...{ path, signal: controller.signal },
    onBuild: ({ status }: { status: string }) => void statuses.push(status),
    onProgress: ({ bytes }: { bytes: number }) => bytes >= 2000 && controller.abort(),
  };
  await expect(connect(fetch).exports.download(...ids, options)).rejects.toMatchObject({ code: 'ABORTED' });
  const { size } = await stat(`${path}.part`);
  expect(size).toBe(2000);
  expect(statuses.at(-1)).toBe('ready');
  const { bytes, etag } = await connect(fetch).exports.download(...ids, { path });
  expect(ranges).toEqual([null, 'bytes=1000-', 'bytes=2000-']);
  const file = await readFile(path);
  expect({ bytes, etag }).toEqual({ bytes: file.length, etag: `"${digestOf(file).sha256}"` });
  expect(await readdir(join(path, '..'))).toEqual(['lesson.zip']);
});

test('a part of another archive begins again, and wrong bytes never become a file', async () => {
  const path = join(await temporaryFolder(), 'lesson.zip');
  const ids = await publishComplete();
  await writeFile(`${path}.part`, randomBytes(500));
  await writeFile(`${path}.part.etag`, `"${'0'.repeat(64)}"`);
  const { etag } = await connect().exports.download(...ids, { path });
  await rm(path);
  await writeFile(`${path}.part`, randomBytes(500));
  await writeFile(`${path}.part.etag`, etag);
  await expect(connect().exports.download(...ids, { path })).rejects.toMatchObject({
    code: 'DIGEST_MISMATCH',
  });
  expect(await readdir(join(path, '..'))).toEqual([]);
});

test('a package is uploaded over a connection that breaks, and followed to its import', async () => {
  const built = await buildPackage();
  const zip = await openAsBlob(await zipFolder(built.path));
  let lost = 0;
  const lectern = connect(async (url, init) => {
    const response = await fetch(url, init);
    // The bytes have arrived; the response gets lost.
    if (init.method === 'PATCH' && (lost += 1) === 1) throw new TypeError('fetch failed');
    return response;
  });
  const { id } = await lectern.imports.create(zip, { fileName: 'tides.zip', publish: true });
  const seen = [];
  for await (const status of lectern.imports.follow(id)) seen.push(status);
  expect(seen.at(-1)).toMatchObject({
    status: 'imported',
    fileName: 'tides.zip',
    report: { lessonId: built.lessonId },
  });
  expect(lost).toBe(1);
});

test('a webhook is accepted with its signature, and rejected when anything of it is wrong', async () => {
  const secret = deriveWebhookSecret(randomUUID(), 'a pepper');
  const older = deriveWebhookSecret(randomUUID(), 'a pepper');
  const body = JSON.stringify({
    type: 'ping',
    timestamp: new Date().toISOString(),
    data: { webhookId: 'x' },
  });
  const signed = (secrets: string[], at = new Date()) => signedHeaders(secrets, { id: 'evt_1', body, at });
  const event = await verifyWebhook({ body, headers: new Headers(signed([older, secret])) }, secret);
  expect(event).toMatchObject({ id: 'evt_1', type: 'ping', data: { webhookId: 'x' } });
  expect((await verifyWebhook({ body: Buffer.from(body), headers: signed([secret]) }, secret)).id).toBe(
    'evt_1',
  );
  const old = new Date(Date.now() - 400_000);
  for (const request of [
    { body: `${body} `, headers: signed([secret]) },
    { body, headers: signed([older]) },
    { body, headers: signed([secret], old) },
    { body, headers: { ...signed([secret]), 'webhook-id': 'evt_2' } },
    { body, headers: {} },
  ]) {
    await expect(verifyWebhook(request, secret)).rejects.toBeInstanceOf(VerificationError);
  }
});
