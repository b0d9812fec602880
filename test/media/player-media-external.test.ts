import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Organization } from '../../shared/models/organization.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { maxWidgetBytes } from '../../shared/widgets/check-widget-file.ts';
import { png } from '../exports/pictures.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { answer, file, hang, redirectTo, startOrigin, truncated } from '../support/origin.ts';
import type { Behaviour, Origin } from '../support/origin.ts';
import { waitFor } from '../support/wait-for.ts';
import { ask, expectError } from '../support/answers.ts';
import { follow, mediumPath, widgetPath } from '../player/player-files.ts';

const hour = 3_600_000;

let origin: Origin;
let harness: Harness;
let organization: Organization;
/** Two processes, which share nothing but the servers and the store. */
let api: string;
let otherApi: string;
beforeAll(async () => {
  origin = await startOrigin();
  harness = await startHarness({
    LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host,
    MEDIA_MAX_BYTES: '100000',
    MEDIA_FRESH_HOURS: '2',
  });
  [api, otherApi] = [await harness.startApi(), await harness.startApi()];
  organization = (await buildOrganization(harness)).organization;
});
afterAll(async () => {
  await harness.close();
  await origin.close();
});

/** Where the picture of one test is, for which no other test asks. */
let picture: string;
beforeEach(() => {
  picture = `/${randomUUID()}.png`;
});

async function build(mimeType = 'image/png', { owner = organization, at = picture } = {}): Promise<string> {
  const built = await buildPackage({ media: [{ sourceUrl: origin.url(at), mimeType }] });
  const version = await buildVersion(harness, owner, built.path);
  return mediumPath(version, built.mediaIds[0] ?? '');
}

/** As if the file had been checked so long ago. */
async function age(hours: number): Promise<void> {
  const checkedAt = new Date(Date.now() - hours * hour);
  await harness.db.remoteFiles.updateOne({ url: origin.url(picture) }, { checkedAt });
}

/** Serves nothing before `open` is called. */
function gate(behaviour: Behaviour): { behaviour: Behaviour; open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return {
    behaviour: async (request, response) => {
      await opened;
      await behaviour(request, response);
    },
    open: () => open(),
  };
}

test('a learner gets an external medium from Lectern, and its origin sees Lectern alone, once', async () => {
  origin.serve(picture, png(1), { contentType: 'image/png' });
  const path = await build();
  for (const process of [api, api, otherApi]) {
    const served = await follow(process, path);
    expect(served.body.equals(png(1))).toBe(true);
    expect(served.headers.get('content-type')).toBe('image/png');
  }
  const asked = origin.log.filter((request) => request.path === picture);
  expect(asked.map(({ method, headers }) => [method, headers['user-agent']])).toEqual([['GET', 'Lectern']]);
  const names = Object.keys(asked[0]?.headers ?? {}).sort();
  expect(names).toEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
});

test('many learners at once, of several lessons, are one request to the origin', async () => {
  const { behaviour, open } = gate(file(png(2)));
  origin.script(picture, behaviour);
  const paths = [await build(), await build()];
  const answers = Promise.all(Array.from({ length: 40 }, (_, index) => ask(api + paths[index % 2])));
  await waitFor('the request to the origin', () => origin.requests(picture) === 1);
  open();
  expect((await answers).map(({ status }) => status)).toEqual(Array<number>(40).fill(302));
  expect(origin.requests(picture)).toBe(1);
});

test('a learner who goes away ends no download that others wait for, or will', async () => {
  const { behaviour, open } = gate(file(png(3)));
  origin.script(picture, behaviour);
  const path = await build();
  const leaving = new AbortController();
  const left = ask(api + path, { signal: leaving.signal });
  await waitFor('the request to the origin', () => origin.requests(picture) === 1);
  leaving.abort();
  await expect(left).rejects.toThrow(/abort/);
  const stays = follow(api, path);
  open();
  expect((await stays).body.equals(png(3))).toBe(true);
  expect(origin.requests(picture)).toBe(1);
});

test('a download that no learner waits for any more ends soon, and the next request starts another', async () => {
  origin.script(picture, hang(), file(png(13)));
  const path = await build();
  const leaving = new AbortController();
  const left = ask(api + path, { signal: leaving.signal });
  await waitFor('the request to the origin', () => origin.requests(picture) === 1);
  const before = origin.connections.open;
  leaving.abort();
  await expect(left).rejects.toThrow(/abort/);
  await waitFor('the end of the download', () => origin.connections.open < before);
  expect((await follow(api, path)).body.equals(png(13))).toBe(true);
});

describe('a copy that was checked', () => {
  const conditions = () =>
    origin.log.filter(({ path }) => path === picture).map(({ headers }) => headers['if-none-match']);

  test('within MEDIA_FRESH_HOURS is served without a question', async () => {
    origin.serve(picture, png(4), { etag: '"4"' });
    const path = await build();
    await follow(api, path);
    await age(1.9);
    expect((await follow(otherApi, path)).body.equals(png(4))).toBe(true);
    expect(conditions()).toEqual([undefined]);
  });

  test('earlier is served when its origin says that it is unchanged, and counts as checked again', async () => {
    origin.serve(picture, png(5), { etag: '"5"' });
    const path = await build();
    await follow(api, path);
    await age(2.1);
    expect((await follow(otherApi, path)).body.equals(png(5))).toBe(true);
    expect((await follow(await harness.startApi(), path)).body.equals(png(5))).toBe(true);
    expect(conditions()).toEqual([undefined, '"5"']);
  });

  test('earlier gives way to what its origin has now', async () => {
    origin.serve(picture, png(6), { etag: '"6"' });
    const path = await build();
    await follow(api, path);
    await age(2.1);
    origin.serve(picture, png(7), { etag: '"7"' });
    expect((await follow(otherApi, path)).body.equals(png(7))).toBe(true);
  });

  test('earlier is served while its origin fails, which is not asked by everybody', async () => {
    origin.serve(picture, png(8));
    const path = await build();
    await follow(api, path);
    await age(2.1);
    origin.script(picture, answer(503));
    for (let turn = 0; turn < 5; turn += 1)
      expect((await follow(otherApi, path)).body.equals(png(8))).toBe(true);
    const firstAndThreeTries = 4;
    expect(origin.requests(picture)).toBe(firstAndThreeTries);
  });

  test('is fetched again whenever the store has lost it', async () => {
    origin.serve(picture, png(9));
    const path = await build();
    await follow(api, path);
    await harness.store.cache.delete(digestOf(png(9)).sha256);
    expect((await follow(api, path)).body.equals(png(9))).toBe(true);
    expect(origin.requests(picture)).toBe(2);
  });
});

describe('404, and not asked for again within a minute, is', () => {
  test.each([
    ['a dead link', answer(404), 1],
    ['a link that needs a log-in', answer(403), 1],
    ['a page in place of a picture', file('<!doctype html>', { contentType: 'text/html' }), 1],
    ['a file over the limit', file(Buffer.alloc(100_001)), 1],
    ['a file that is cut off at each try', truncated(png(10), 100), 3],
    ['a redirect to an address that is not public', redirectTo('http://10.0.0.1/'), 1],
  ])('%s', async (_what, behaviour, requests) => {
    origin.script(picture, behaviour);
    const path = await build();
    const answers = await Promise.all([api, api, api].map((process) => ask(process + path)));
    answers.push(await ask(api + path));
    for (const one of answers) {
      expectError(one, 404, 'Media file not available');
      expect(one.headers.get('cache-control')).toBe('no-store');
      expect(one.headers.get('access-control-allow-origin')).toBe('*');
    }
    expect(origin.requests(picture)).toBe(requests);
  });
});

test('a lesson that declares the wrong type of a file spoils it for no other', async () => {
  origin.serve(picture, png(12));
  const wrong = await build('video/mp4');
  const right = await build();
  expectError(await ask(api + wrong), 404, 'Media file not available');
  expect((await follow(api, right)).body.equals(png(12))).toBe(true);
});

test('a file that waits for another organization’s slots makes no learner of this one wait', async () => {
  const fair = await harness.startApi({ DOWNLOAD_CONCURRENCY_PER_HOST: '2' });
  const owner = (await buildOrganization(harness)).organization;
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
  // Does what the request before it does first, and more: that one waits for its slot when this one ends.
  await follow(fair, stored);

  expect((await follow(fair, await build())).body.equals(png(15))).toBe(true);
  leaving.abort();
  await Promise.allSettled(hostile);
});

test('a URL that is a widget and a medium has the limit of each', async () => {
  const process = await harness.startApi({ MEDIA_MAX_BYTES: '4000000' });
  const large = Buffer.alloc(maxWidgetBytes + 1, ' ');
  origin.serve(picture, large, { contentType: 'text/javascript' });
  const sourceUrl = origin.url(picture);
  const { path, mediaIds } = await buildPackage({
    widgets: [{ widgetType: 'Dial', sourceUrl }],
    media: [{ sourceUrl, mimeType: 'text/javascript', extension: 'js' }],
    blocks: () => [{ type: 'Dial', props: { id: 'dial' } }],
  });
  const version = await buildVersion(harness, organization, path);
  const widget = () => ask(process + widgetPath(version, 'Dial.js'));
  expectError(await widget(), 404, 'Widget not available');
  const medium = await follow(process, mediumPath(version, mediaIds[0] ?? ''));
  expect([medium.status, medium.body.length]).toEqual([200, large.length]);
  expectError(await widget(), 404, 'Widget not available');
});

test('a host that is not public is asked for nothing', async () => {
  origin.serve(picture, png(11));
  const strict = await harness.startApi({ LECTERN_ALLOWED_PRIVATE_HOSTS: '' });
  const path = await build();
  expectError(await ask(strict + path), 404, 'Media file not available');
  expect(origin.requests(picture)).toBe(0);
});

test('a process that ends tells who waits to come again, and ends the download', async () => {
  const own = await startHarness({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host });
  origin.script(picture, hang());
  const ending = await own.startApi();
  const tenant = await buildOrganization(own);
  const built = await buildPackage({ media: [{ sourceUrl: origin.url(picture) }] });
  const version = await buildVersion(own, tenant.organization, built.path);
  const waiting = ask(ending + mediumPath(version, built.mediaIds[0] ?? ''));
  await waitFor('the request to the origin', () => origin.requests(picture) === 1);
  const closed = own.close();
  const told = await waiting;
  expectError(told, 500, 'An unexpected error occurred');
  expect(told.headers.get('retry-after')).toBe('10');
  await closed;
});
