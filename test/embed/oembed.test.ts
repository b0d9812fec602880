import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildLearnerToken, buildOrganization } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { publishLesson } from '../player/player-lessons.ts';

let harness: Harness;
let api: string;
beforeAll(async () => {
  harness = await startHarness();
  api = await harness.startApi();
});
afterAll(() => harness.close());

const lessonId = 'b2c31cf9-50e1-41e9-8a87-a67383019488';
const page = () => `${api}/embed/${lessonId}`;
const query = (parameters: Record<string, string>) => `/oembed?${new URLSearchParams(parameters).toString()}`;

test('an embed page is described as a frame, for sites of every origin', async () => {
  const answer = await ask(api + query({ url: page() }));
  expect(jsonOf(answer)).toStrictEqual({
    version: '1.0',
    type: 'rich',
    provider_name: 'Lectern',
    provider_url: api,
    title: 'Lesson',
    width: 960,
    height: 640,
    html: `<iframe src="${page()}" title="Lesson" width="960" height="640" style="border:0;max-width:100%" allow="fullscreen" loading="lazy"></iframe>`,
    cache_age: 3600,
  });
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect(answer.headers.get('cache-control')).toBe('private, max-age=3600');
});

test('a token in the URL is not in the response', async () => {
  const { organization } = await buildOrganization(harness);
  const version = await publishLesson(harness, organization);
  const token = buildLearnerToken(version);
  const url = `${api}/embed/${version.lessonId}?token=${token}#step=s1`;
  const { html } = jsonOf(await ask(api + query({ url }))) as { html: string };
  expect(html).toContain(`src="${api}/embed/${version.lessonId}"`);
  expect(html).not.toContain('token');
});

test('the response does not reveal whether the lesson exists', async () => {
  const { organization } = await buildOrganization(harness);
  const version = await publishLesson(harness, organization);
  const describe = async (id: string) => {
    const answer = await ask(api + query({ url: `${api}/embed/${id}` }));
    return answer.body.toString().replaceAll(id, '');
  };
  expect(await describe(version.lessonId)).toBe(await describe(randomUUID()));
});

test.each([
  [{ maxwidth: '400' }, [400, 640]],
  [{ maxheight: '300' }, [960, 300]],
  [{ maxwidth: '320', maxheight: '1' }, [320, 1]],
  [{ maxwidth: '5000', maxheight: '5000' }, [960, 640]],
])('%o limits the size', async (limits, [width, height]) => {
  const described = jsonOf(await ask(api + query({ url: page(), ...limits }))) as { html: string };
  expect(described).toMatchObject({ width, height });
  expect(described.html).toContain(`width="${width}" height="${height}"`);
});

test('invalid parameters get 400, and a format other than JSON gets 501', async () => {
  const refused = 'maxwidth must be a whole number above 0';
  expectError(await ask(`${api}/oembed`), 400, 'url is required');
  expectError(await ask(api + query({ url: '' })), 400, 'url is required');
  for (const maxwidth of ['0', '-1', '1.5', 'wide', '9999999']) {
    expectError(await ask(api + query({ url: page(), maxwidth })), 400, refused);
  }
  expectError(await ask(`${api}${query({ url: page() })}&url=x`), 400, 'url is required');
  for (const format of ['xml', 'JSON', '']) {
    expectError(await ask(api + query({ url: page(), format })), 501, 'Only format=json is available');
  }
  expect((await ask(api + query({ url: page(), format: 'json' }))).status).toBe(200);
  expectError(await ask(`${api}/oembed`, { method: 'POST' }), 405, 'POST is not allowed here');
  expect((await ask(`${api}/oembed`, { method: 'OPTIONS' })).status).toBe(204);
});

test('any other URL gets 404', async () => {
  for (const url of [
    'x',
    `/embed/${lessonId}`,
    `https://elsewhere.example/embed/${lessonId}`,
    `${api}@elsewhere.example/embed/${lessonId}`,
    `${api}.example/embed/${lessonId}`,
    `${api}/embed/`,
    `${api}/embed/x`,
    `${api}/embed/${lessonId}/more`,
    `${api}/embed/${lessonId}"><script>`,
    `${api}/docs`,
    `javascript:alert(1)//embed/${lessonId}`,
  ]) {
    expectError(await ask(api + query({ url })), 404, 'url is not the address of an embed page');
  }
});

test('with PUBLIC_URL its pages are recognized', async () => {
  const named = await harness.startApi({ PUBLIC_URL: 'https://Lessons.example:443/lectern' });
  const url = `https://lessons.example/lectern/embed/${lessonId}`;
  const answer = await ask(named + query({ url }));
  const { html } = jsonOf(answer) as { html: string };
  expect(html).toContain(`src="https://lessons.example/lectern/embed/${lessonId}"`);
  expect(answer.headers.get('cache-control')).toBe('public, max-age=3600');
  expect((await ask(named + query({ url: `${named}/embed/${lessonId}` }))).status).toBe(404);
});
