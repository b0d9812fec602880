import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { findContent } from '../../shared/models/lesson-content.ts';
import { findVersion } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { runTask } from '../../shared/platform/tasks.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { buildOrganization, buildPackage, buildVersion, unknownBytes } from '../support/factories.ts';
import { useApi, useOrigin } from '../support/use.ts';

const origin = useOrigin();
const api = useApi(() => ({ LECTERN_ALLOWED_PRIVATE_HOSTS: origin.host }));

async function buildDraft(overrides: Parameters<typeof buildPackage>[0] = {}): Promise<LessonVersion> {
  const { path } = await buildPackage(overrides);
  return buildVersion(api, api.organization, path, { publish: false });
}

interface Comparison {
  summary: { blocks: Record<string, number> };
  changes: { values: { after: string }[] }[];
  isComplete: boolean;
}

function send(method: string, { lessonId, _id }: LessonVersion, action: string, headers = api.headers) {
  return ask(`${api.url}/api/lessons/${lessonId}/versions/${_id}/${action}`, { method, headers });
}

test('a draft is previewed, published, played, unpublished and deleted', async () => {
  const draft = await buildDraft();
  const { lessonId, _id: versionId } = draft;
  const link = await send('POST', draft, 'preview-links');
  expect(link.status).toBe(201);
  const { url } = jsonOf(link) as { url: string };
  expect(url).toContain(`${api.url}/embed/${lessonId}?token=`);
  expect((await ask(url)).status).toBe(200);

  const published = await send('POST', draft, 'publish');
  const body = { lessonId, versionId, versionNumber: 1, slug: 'a-lesson', status: 'published', warnings: [] };
  expect(jsonOf(published)).toEqual({ ...body, publishedAt: expect.any(String) as string });
  // A second request changes nothing.
  expect(jsonOf(await send('POST', draft, 'publish'))).toEqual(jsonOf(published));

  expect(jsonOf(await send('POST', draft, 'unpublish'))).toMatchObject({ ...body, status: 'unpublished' });
  expectError(
    await send('POST', draft, 'preview-links'),
    422,
    'Version 1 of a-lesson is unpublished. Publish it to preview it.',
  );

  const lesson = `${api.url}/api/lessons/${lessonId}`;
  expect((await ask(lesson, { method: 'DELETE', headers: api.headers })).status).toBe(204);
  expectError(await ask(lesson, { method: 'DELETE', headers: api.headers }), 404, 'Lesson not found');
  expectError(await send('POST', draft, 'publish'), 404, 'Lesson or version not found');
});

test('a lesson that cannot be played is published by force only, with the reasons of the check', async () => {
  const draft = await buildDraft({
    sections: [{ id: randomUUID(), title: 'Empty', order_index: 0, steps: [] }],
  });
  const problem = 'Section 1 ("Empty") has no steps';
  const { playability } = jsonOf(await send('GET', draft, 'check')) as {
    playability: { valid: boolean; errors: { message: string }[] };
  };
  expect(playability).toMatchObject({ valid: false, errors: [{ message: problem }] });
  expectError(
    await send('POST', draft, 'publish'),
    422,
    `The lesson cannot be played yet: ${problem}. Correct it, or publish it anyway with --force.`,
  );
  expect((await send('POST', draft, 'publish?force=true')).status).toBe(200);
  expectError(await send('POST', draft, 'publish?force=yes'), 422, 'force must be true or false');
});

test('an organization whose work on lessons piles up gets 429 for more, and no other organization does', async () => {
  const [draft, organization] = [await buildDraft(), api.organization];
  // As after an upgrade that changes the format of prepared lessons.
  await api.db.preparedParts.deleteMany({ versionId: draft._id });
  const pile = new AbortController();
  const bytes = Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${'<g/>'.repeat(200_000)}</svg>`);
  const many = { mimeType: 'image/svg+xml', bytes };
  const run = { what: 'The SVG', organizationId: organization._id, signal: pile.signal };
  const waiting = Promise.allSettled(Array.from({ length: 30 }, () => runTask('repairFile', many, run)));
  const requests = ['publish', 'preview-links', 'check'].map((action) =>
    send(action === 'check' ? 'GET' : 'POST', draft, action),
  );
  for (const answer of await Promise.all(requests)) {
    expectError(answer, 429, 'Too many requests wait for work on lessons; try again in 10 seconds');
    expect(answer.headers.get('retry-after')).toBe('10');
  }
  const other = await buildOrganization(api);
  const { path } = await buildPackage();
  const theirs = await buildVersion(api, other.organization, path, { publish: false, asNew: true });
  expect((await send('POST', theirs, 'publish', other.headers)).status).toBe(200);
  pile.abort();
  await waiting;
  expect((await send('POST', draft, 'publish')).status).toBe(200);
});

test('a check downloads widgets by URL, and publishing names missing ones', async () => {
  const widget = (type: string) => ({ type, props: { id: `${type}-1` } });
  origin.serve('/dial.js', 'not a module {', { contentType: 'text/javascript' });
  const draft = await buildDraft({
    blocks: () => [widget('Dial'), widget('Missing')],
    widgets: [{ widgetType: 'Dial', sourceUrl: `http://${origin.host}/dial.js` }],
  });
  const { warnings } = jsonOf(await send('GET', draft, 'check')) as { warnings: unknown };
  const missing = 'No widget is registered for the type Missing.';
  const place = (type: string) => ({ step: { title: 'A step' }, block: { id: `${type}-1`, type } });
  expect(warnings).toMatchObject([
    { message: missing, place: place('Missing') },
    { message: expect.stringMatching(/^The module of the widget Dial /) as string, place: place('Dial') },
  ]);
  expect(jsonOf(await send('POST', draft, 'publish'))).toMatchObject({ warnings: [missing] });
});

test('two versions are compared by ids and digests, within a bound that the response states', async () => {
  const [lessonId, media] = [randomUUID(), randomUUID()];
  const picture = { type: 'Image', props: { id: 'p', src: `./media/${media}.png`, alt: 'Map' } };
  const of = (...texts: string[]) => {
    const blocks = texts.map((html, at) => ({ type: 'Text', props: { id: `t${at}`, html } }));
    const step = {
      id: 'u',
      title: 'A step',
      content: { root: { props: {} }, content: [...blocks, picture] },
    };
    const sections = [{ id: 's', title: 'A section', steps: [step] }];
    return buildDraft({ lessonId, sections, media: [{ id: media, bytes: unknownBytes(9) }] });
  };
  const long = `${'🐚'.repeat(3_000)}!`;
  const first = await of('a', '<b>b</b>');
  const second = await of('a', `<b>${long}</b>`);
  const changes = async (query: string) => send('GET', second, `changes${query}`);
  const { summary, ...found } = jsonOf(await changes(`?since=${first._id}`)) as Comparison;
  expect(summary.blocks).toEqual({ added: 0, removed: 0, moved: 0, changed: 1 });
  expect(found).toMatchObject({
    ...{ before: { versionNumber: 1 }, after: { versionNumber: 2 }, isComplete: true },
    changes: [{ kind: 'block', block: { id: 't1', type: 'Text' }, values: [{ path: 'html', isCut: true }] }],
    media: [{ id: media, change: 'replaced', mimeType: 'image/png' }],
  });
  expect(found.changes[0]?.values[0]?.after).toMatch(/^<b>(🐚)+…$/u);

  const many = Array.from({ length: 600 }, (_, at) => `text ${at}`);
  const third = await of(...many);
  const { isComplete, ...all } = jsonOf(await send('GET', third, `changes?since=${first._id}`)) as Comparison;
  expect({ isComplete, listed: all.changes.length, added: all.summary.blocks.added }).toEqual({
    ...{ isComplete: false, listed: 500, added: 598 },
  });
  expectError(await changes(`?since=${randomUUID()}`), 404, 'Lesson or version not found');
  expectError(await changes(''), 422, 'Invalid earlier version ID format');
});

test('a new lesson can be played, and a copy of a version has its content and its media, without their bytes', async () => {
  const post = (path: string, body: object, headers: object = api.headers) =>
    ask(`${api.url}/api/lessons${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const made = await post('', { title: 'Marées', language: 'fr' });
  expect(jsonOf(made)).toMatchObject({ slug: 'marees', title: 'Marées', versionNumber: 1 });
  const ids = jsonOf(made) as { lessonId: string; versionId: string };
  const lesson = { lessonId: ids.lessonId, _id: ids.versionId } as LessonVersion;
  expect(jsonOf(await send('GET', lesson, 'check'))).toMatchObject({
    playability: { valid: true },
    warnings: [],
  });
  expect((await send('POST', lesson, 'preview-links')).status).toBe(201);
  expectError(await post('', { title: ' ', language: 'fr' }), 422, 'title must not be empty');
  expectError(
    await post('', { title: 'A', language: '-' }),
    422,
    'language must be a tag such as en or pt-BR',
  );

  const draft = await buildDraft({ media: [{ bytes: unknownBytes(9) }] });
  const files = await api.db.media.distinct('asset.sha256', { versionId: draft._id });
  const path = `/${draft.lessonId}/versions/${draft._id}/copies`;
  const copied = jsonOf(await post(path, { title: 'Another' })) as { lessonId: string; versionId: string };
  const copy = { lessonId: copied.lessonId, _id: copied.versionId } as LessonVersion;
  expect(copied.lessonId).not.toBe(draft.lessonId);
  expect(await api.db.media.distinct('asset.sha256', { versionId: copied.versionId })).toEqual(files);
  expect((await send('POST', copy, 'publish')).status).toBe(200);
  expect(await findVersion(api.db, draft._id)).toMatchObject({ status: 'draft', title: 'A lesson' });
  const content = await findContent(api.db, copied.versionId);
  expect(content).toMatchObject({ lesson: { id: copied.lessonId, title: 'Another', slug: 'another' } });
  const other = await buildOrganization(api);
  expectError(await post(path, { title: 'Theirs' }, other.headers), 404, 'Lesson or version not found');
  const solo = await buildOrganization(api, { plan: 'solo' });
  expect((await post('', { title: 'A', language: 'en' }, solo.headers)).status).toBe(403);
});

test("another organization's lesson cannot be changed", async () => {
  const draft = await buildDraft();
  await send('POST', draft, 'publish');
  const { headers } = await buildOrganization(api);
  expectError(await send('POST', draft, 'unpublish', headers), 404, 'Lesson or version not found');
  const lesson = `${api.url}/api/lessons/${draft.lessonId}`;
  expectError(await ask(lesson, { method: 'DELETE', headers }), 404, 'Lesson not found');
  expect((await findVersion(api.db, draft._id))?.status).toBe('published');
});
