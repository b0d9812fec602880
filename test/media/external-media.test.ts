import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { digestOf } from '../../shared/storage/digest.ts';
import { png } from '../exports/pictures.ts';
import { follow, mediumPath } from '../player/player-files.ts';
import { ask, expectError } from '../support/answers.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import { answer, file, hang, redirectTo, truncated } from '../support/origin.ts';
import type { Behavior } from '../support/origin.ts';
import { useApi, useOrigin } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';

const origin = useOrigin();
const api = useApi(() => ({
  LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host,
  MEDIA_MAX_BYTES: '100000',
  MEDIA_FRESH_HOURS: '2',
}));
/** A second process, which shares only the servers and the store. */
let otherApi: string;
beforeAll(async () => {
  otherApi = await api.startApi();
});

/** The path of a picture that no other test requests. */
let picture: string;
beforeEach(() => {
  picture = `/${randomUUID()}.png`;
});

/** Publishes a lesson with one external medium; returns the URL of the medium for its players. */
async function build(
  mimeType = 'image/png',
  { owner = api.organization, at = picture } = {},
): Promise<string> {
  const built = await buildPackage({ media: [{ sourceUrl: origin.url(at), mimeType }] });
  return mediumPath(await buildVersion(api, owner, built.path), built.mediaIds[0] ?? '');
}

const requested = () =>
  waitFor('the request to the origin', () => origin.requests(picture) === 1 || undefined);

/** Requests a medium, and disconnects when `abort` is called. */
function askAndLeave(url: string) {
  const leaving = new AbortController();
  const left = ask(url, { signal: leaving.signal });
  return {
    async leave() {
      leaving.abort();
      await expect(left).rejects.toThrow(/abort/);
    },
  };
}

/** Delays a behavior until `open` is called. */
function gate(behavior: Behavior): { behavior: Behavior; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return {
    behavior: async (request, response) => {
      await opened;
      await behavior(request, response);
    },
    open: () => open(),
  };
}

test('learners get an external medium from Lectern, and its origin gets one request, from Lectern', async () => {
  origin.serve(picture, png(1), { contentType: 'image/png' });
  const path = await build();
  for (const process of [api.url, api.url, otherApi]) {
    const served = await follow(process, path);
    expect(served.body.equals(png(1))).toBe(true);
    expect(served.headers.get('content-type')).toBe('image/png');
  }
  const requests = origin.log.filter((request) => request.path === picture);
  expect(requests.map(({ method, headers }) => [method, headers['user-agent']])).toEqual([
    ['GET', 'Lectern'],
  ]);
  const names = Object.keys(requests[0]?.headers ?? {}).sort();
  expect(names).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
});

test('concurrent requests of many learners, also of several lessons, share one download', async () => {
  const { behavior, open } = gate(file(png(2)));
  origin.script(picture, behavior);
  const paths = [await build(), await build()];
  const answers = Promise.all(Array.from({ length: 40 }, (_, index) => ask(api.url + paths[index % 2])));
  await requested();
  open();
  expect((await answers).map(({ status }) => status)).toEqual(Array<number>(40).fill(302));
  expect(origin.requests(picture)).toBe(1);
});

test('a client that disconnects does not end a download for the next one', async () => {
  const { behavior, open } = gate(file(png(3)));
  origin.script(picture, behavior);
  const path = await build();
  const client = askAndLeave(api.url + path);
  await requested();
  await client.leave();
  const next = follow(api.url, path);
  open();
  expect((await next).body.equals(png(3))).toBe(true);
  expect(origin.requests(picture)).toBe(1);
});

test('a download without clients ends soon, and the next request starts another', async () => {
  origin.script(picture, hang(), file(png(13)));
  const path = await build();
  const client = askAndLeave(api.url + path);
  await requested();
  const before = origin.connections.open;
  await client.leave();
  await waitFor('the end of the download', () => origin.connections.open < before);
  expect((await follow(api.url, path)).body.equals(png(13))).toBe(true);
});

describe('a cached copy', () => {
  const validators = () =>
    origin.log.filter(({ path }) => path === picture).map(({ headers }) => headers['if-none-match']);

  /** Publishes and requests a medium, whose copy was then checked so many hours ago. */
  async function cached(bytes: Buffer, hours: number, etag?: string): Promise<string> {
    origin.serve(picture, bytes, { ...(etag !== undefined && { etag }) });
    const path = await build();
    await follow(api.url, path);
    const checkedAt = new Date(Date.now() - hours * 3_600_000);
    await api.db.remoteFiles.updateOne({ url: origin.url(picture) }, { checkedAt });
    return path;
  }

  test('within MEDIA_FRESH_HOURS needs no revalidation', async () => {
    const path = await cached(png(4), 1.9, '"4"');
    expect((await follow(otherApi, path)).body.equals(png(4))).toBe(true);
    expect(validators()).toEqual([undefined]);
  });

  test('that is older is revalidated once if unchanged', async () => {
    const path = await cached(png(5), 2.1, '"5"');
    expect((await follow(otherApi, path)).body.equals(png(5))).toBe(true);
    expect((await follow(await api.startApi(), path)).body.equals(png(5))).toBe(true);
    expect(validators()).toEqual([undefined, '"5"']);
  });

  test('that is older is replaced if changed', async () => {
    const path = await cached(png(6), 2.1, '"6"');
    origin.serve(picture, png(7), { etag: '"7"' });
    expect((await follow(otherApi, path)).body.equals(png(7))).toBe(true);
  });

  test('that is older serves all learners while its origin fails, after one download attempt', async () => {
    const path = await cached(png(8), 2.1);
    origin.script(picture, answer(503));
    for (let turn = 0; turn < 5; turn += 1)
      expect((await follow(otherApi, path)).body.equals(png(8))).toBe(true);
    const firstAndThreeAttempts = 4;
    expect(origin.requests(picture)).toBe(firstAndThreeAttempts);
  });

  test('is downloaded again after the store lost it', async () => {
    const path = await cached(png(9), 0);
    await api.store.cache.delete(digestOf(png(9)).sha256);
    expect((await follow(api.url, path)).body.equals(png(9))).toBe(true);
    expect(origin.requests(picture)).toBe(2);
  });
});

test.each([
  ['a dead link', answer(404), 1],
  ['a file that is truncated at each attempt', truncated(png(10), 100), 3],
  ['a redirect to a private address', redirectTo('http://10.0.0.1/'), 1],
])('%s returns 404, and is not requested again within a minute', async (_what, behavior, requests) => {
  origin.script(picture, behavior);
  const path = await build();
  const answers = await Promise.all([1, 2, 3].map(() => ask(api.url + path)));
  answers.push(await ask(api.url + path));
  for (const one of answers) {
    expectError(one, 404, 'Media file not available');
    expect(one.headers.get('cache-control')).toBe('no-store');
    expect(one.headers.get('access-control-allow-origin')).toBe('*');
  }
  expect(origin.requests(picture)).toBe(requests);
});

test('a lesson that declares a wrong type does not fail the file for other lessons', async () => {
  origin.serve(picture, png(12));
  const [wrong, right] = [await build('video/mp4'), await build()];
  expectError(await ask(api.url + wrong), 404, 'Media file not available');
  expect((await follow(api.url, right)).body.equals(png(12))).toBe(true);
});

test('learners never wait for a download in another organization’s slots', async () => {
  const fair = await api.startApi({ DOWNLOAD_CONCURRENCY_PER_HOST: '2' });
  const owner = (await buildOrganization(api)).organization;
  origin.script(`${picture}.slow`, hang());
  origin.serve(`${picture}.stored`, png(14));
  origin.serve(picture, png(15));
  const [slow, stored, wanted] = [
    await build(undefined, { owner, at: `${picture}.slow` }),
    await build(undefined, { owner, at: `${picture}.stored` }),
    await build(undefined, { owner }),
  ];
  await follow(fair, stored);
  const leaving = new AbortController();
  const hostile = [ask(fair + slow, { signal: leaving.signal })];
  await waitFor('the request that takes the slot', () => origin.requests(`${picture}.slow`) === 1);
  hostile.push(ask(fair + wanted, { signal: leaving.signal }));
  // This takes longer than the request before needs to reach the queue for slots.
  await follow(fair, stored);

  expect((await follow(fair, await build())).body.equals(png(15))).toBe(true);
  leaving.abort();
  await Promise.allSettled(hostile);
});

test('Lectern sends no request to a private host', async () => {
  origin.serve(picture, png(11));
  const strict = await api.startApi({ LECTERN_ALLOWED_PRIVATE_HOSTS: '' });
  expectError(await ask(strict + (await build())), 404, 'Media file not available');
  expect(origin.requests(picture)).toBe(0);
});

test('shutdown aborts downloads, and waiting clients get Retry-After', async () => {
  const own = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host });
  origin.script(picture, hang());
  const stopping = await own.startApi();
  const { organization } = await buildOrganization(own);
  const built = await buildPackage({ media: [{ sourceUrl: origin.url(picture) }] });
  const version = await buildVersion(own, organization, built.path);
  const waiting = ask(stopping + mediumPath(version, built.mediaIds[0] ?? ''));
  await requested();
  const closed = own.close();
  const failed = await waiting;
  expectError(failed, 500, 'An unexpected error occurred');
  expect(failed.headers.get('retry-after')).toBe('10');
  await closed;
});
