import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { buildLearnerToken } from '../support/factories.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { useApi } from '../support/use.ts';
import { publishLesson } from '../player/player-lessons.ts';

const api = useApi();
const lessonId = 'b2c31cf9-50e1-41e9-8a87-a67383019488';
const pageUrl = () => `${api.url}/embed/${lessonId}`;
const oembed = (parameters: Record<string, string>, base = api.url) =>
  ask(`${base}/oembed?${new URLSearchParams(parameters).toString()}`);

test('an embed page is described as a frame, for sites of every origin', async () => {
  const answer = await oembed({ url: pageUrl() });
  expect(jsonOf(answer)).toStrictEqual({
    version: '1.0',
    type: 'rich',
    provider_name: 'Lectern',
    provider_url: api.url,
    title: 'Lesson',
    width: 960,
    height: 640,
    html: `<iframe src="${pageUrl()}" title="Lesson" width="960" height="640" style="border:0;max-width:100%" allow="fullscreen" loading="lazy"></iframe>`,
    cache_age: 3600,
  });
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect(answer.headers.get('cache-control')).toBe('private, max-age=3600');
});

test('the response contains no token, and does not reveal whether the lesson exists', async () => {
  const version = await publishLesson(api, api.organization);
  const htmlOf = async (id: string, rest = '') => {
    const { html } = jsonOf(await oembed({ url: `${api.url}/embed/${id}${rest}` })) as { html: string };
    expect(html).toContain(`src="${api.url}/embed/${id}"`);
    return html.replaceAll(id, '');
  };
  const known = await htmlOf(version.lessonId, `?token=${buildLearnerToken(version)}#step=s1`);
  expect(await htmlOf(randomUUID())).toBe(known);
});

test.each([
  [{ maxwidth: '400' }, [400, 640]],
  [{ maxheight: '300' }, [960, 300]],
  [{ maxwidth: '320', maxheight: '1' }, [320, 1]],
  [{ maxwidth: '5000', maxheight: '5000' }, [960, 640]],
])('%o limits the size', async (limits, [width, height]) => {
  const described = jsonOf(await oembed({ url: pageUrl(), ...limits })) as { html: string };
  expect(described).toMatchObject({ width, height });
  expect(described.html).toContain(`width="${width}" height="${height}"`);
});

test('invalid parameters get 400, and a format other than JSON gets 501', async () => {
  expectError(await oembed({}), 400, 'url is required');
  expectError(await oembed({ url: '' }), 400, 'url is required');
  expectError(await ask(`${api.url}/oembed?url=${pageUrl()}&url=x`), 400, 'url is required');
  for (const maxwidth of ['0', '-1', '1.5', 'wide', '9999999']) {
    const answer = await oembed({ url: pageUrl(), maxwidth });
    expectError(answer, 400, 'maxwidth must be a whole number above 0');
  }
  for (const format of ['xml', 'JSON', '']) {
    expectError(await oembed({ url: pageUrl(), format }), 501, 'Only format=json is available');
  }
  expect((await oembed({ url: pageUrl(), format: 'json' })).status).toBe(200);
  expect((await ask(`${api.url}/oembed`, { method: 'OPTIONS' })).status).toBe(204);
});

test('any other URL gets 404', async () => {
  for (const url of [
    'x',
    `/embed/${lessonId}`,
    `https://elsewhere.example/embed/${lessonId}`,
    `${api.url}@elsewhere.example/embed/${lessonId}`,
    `${api.url}.example/embed/${lessonId}`,
    `${api.url}/embed/`,
    `${api.url}/embed/x`,
    `${api.url}/embed/${lessonId}/more`,
    `${api.url}/embed/${lessonId}"><script>`,
    `${api.url}/docs`,
    `javascript:alert(1)//embed/${lessonId}`,
  ]) {
    expectError(await oembed({ url }), 404, 'url is not the URL of an embed page');
  }
});

test('with PUBLIC_URL its pages are recognized', async () => {
  const named = await api.startApi({ PUBLIC_URL: 'https://Lessons.example:443/lectern' });
  const url = `https://lessons.example/lectern/embed/${lessonId}`;
  const answer = await oembed({ url }, named);
  const { html } = jsonOf(answer) as { html: string };
  expect(html).toContain(`src="https://lessons.example/lectern/embed/${lessonId}"`);
  expect(answer.headers.get('cache-control')).toBe('public, max-age=3600');
  expect((await oembed({ url: `${named}/embed/${lessonId}` }, named)).status).toBe(404);
});
