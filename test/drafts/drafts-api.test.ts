import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { findContent } from '../../shared/models/lesson-content.ts';
import { findDraft, maxDraftBytes } from '../../shared/models/lesson-draft.ts';
import { queueDraftImport } from '../../shared/models/lesson-import.ts';
import { maxPartBytes } from '../../shared/drafts/lesson-parts.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { useApi } from '../support/use.ts';
import { ended } from '../imports/uploads.ts';
import type { ImportStatus } from '../imports/uploads.ts';
import { picture } from '../packages/import-support.ts';

const api = useApi({}, { worker: true });

interface Saved {
  revision: number;
  savedAt: string;
  savedBy: { type: string; id: string };
}
interface Draft extends Saved {
  versionId: string;
  skeleton: {
    lesson: { title: string };
    sections: { id: string; title: string; steps: { id: string; title: string }[] }[];
  };
  steps: (Saved & { stepId: string })[];
}
interface Step extends Saved {
  content: { content: { type: string; props: Record<string, unknown> }[] };
}

interface Sent {
  method?: string;
  json?: object | string;
  headers?: Record<string, string>;
}

function send({ lessonId }: { lessonId: string }, path = '', { method = 'GET', json, headers }: Sent = {}) {
  return ask(`${api.url}/api/lessons/${lessonId}/draft${path}`, {
    method,
    headers: {
      ...api.headers,
      ...headers,
      ...(json !== undefined && { 'content-type': 'application/json' }),
    },
    ...(json !== undefined && { body: typeof json === 'string' ? json : JSON.stringify(json) }),
  });
}

/** Publishes a version with two steps, and opens its draft. */
async function buildDraft(overrides: Parameters<typeof buildPackage>[0] = {}) {
  const step = (id: string) => ({
    id,
    title: `Step ${id}`,
    content: { content: [{ type: 'Text', props: { id: 't', html: `<p>${id}</p>` } }], root: { props: {} } },
  });
  const sections = [{ id: 's', title: 'Section', steps: [step('a'), step('b/ä')] }];
  const { path } = await buildPackage({ sections, ...overrides });
  const version = await buildVersion(api, api.organization, path);
  const created = await send(version, '', { method: 'POST', json: {} });
  expect(created.status).toBe(201);
  return { version, draft: jsonOf(created) as Draft };
}

async function publish({ lessonId }: { lessonId: string }, json = {}): Promise<ImportStatus> {
  const answer = await send({ lessonId }, '/publish', { method: 'POST', json });
  expect(answer.status).toBe(202);
  const { id } = jsonOf(answer) as { id: string };
  expect(answer.headers.get('location')).toBe(`${api.url}/api/lessons/imports/${id}`);
  return ended(api, id);
}

async function contentOf(versionId: string) {
  const content = await findContent(api.db, versionId);
  if (content === null) throw new Error('no content');
  return content;
}

const text = (html: string) => ({ content: [{ type: 'Text', props: { id: 't', html } }], root: {} });

test('authors open a version, save its parts, and publish the next version; saving makes none', async () => {
  const { version, draft } = await buildDraft();
  const { lessonId, _id: versionId } = version;
  const savedBy = { type: 'key', id: api.credentials.split('.')[0] };
  expect(draft).toMatchObject({ lessonId, versionId, revision: 1, savedBy });
  expect(draft.skeleton.sections[0]?.steps).toEqual([
    { id: 'a', title: 'Step a', order_index: 0 },
    { id: 'b/ä', title: 'Step b/ä', order_index: 1 },
  ]);
  expect(draft.steps.map(({ stepId, revision }) => [stepId, revision]).sort()).toEqual([
    ['a', 1],
    ['b/ä', 1],
  ]);
  const second = `/steps/${encodeURIComponent('b/ä')}`;
  expect(jsonOf(await send(version, second))).toMatchObject({
    ...{ stepId: 'b/ä', revision: 1, savedBy },
    content: { content: [{ props: { html: '<p>b/ä</p>' } }] },
  });

  // A new step, before the skeleton names it.
  const added = await send(version, '/steps/new', {
    method: 'PUT',
    json: { revision: 0, content: text('new') },
  });
  expect(jsonOf(added)).toMatchObject({ revision: 1, savedBy });
  for (let revision = 1; revision <= 3; revision += 1) {
    const json = { revision, content: text(`save ${revision}`) };
    expect((await send(version, second, { method: 'PUT', json })).status).toBe(200);
  }
  // Moves a step, removes one, and renames the lesson.
  const { skeleton } = draft;
  skeleton.lesson.title = 'Renamed';
  skeleton.sections[0]?.steps.splice(0, 1, { id: 'new', title: 'New' });
  skeleton.sections[0]?.steps.reverse();
  const saved = await send(version, '', { method: 'PUT', json: { revision: 1, skeleton } });
  expect(jsonOf(saved)).toMatchObject({ revision: 2, savedBy });
  expect(await api.db.lessonVersions.countDocuments({ lessonId })).toBe(1);

  const { status, report, error } = await publish(version);
  expect({ status, error }).toEqual({ status: 'imported', error: null });
  expect(report).toMatchObject({ lessonId, versionNumber: 2, published: true, warnings: [] });
  const content = await contentOf(report?.versionId ?? '');
  expect(content.lesson).toMatchObject({ id: lessonId, title: 'Renamed' });
  expect(
    content.sections[0]?.steps.map(({ id, title, content: { content: blocks } }) => [
      id,
      title,
      blocks[0]?.props.html,
    ]),
  ).toEqual([
    ['b/ä', 'Step b/ä', 'save 3'],
    ['new', 'New', 'new'],
  ]);
  expectError(await send(version), 404, 'Draft not found');
  expect(await api.db.draftSteps.countDocuments({ stepId: 'b/ä' })).toBe(0);
});

test('a draft that is opened and published unchanged has equal content, media and credits', async () => {
  const attribution = { text: 'Ada', url: 'https://example.org/', portfolioUrl: '' };
  const { version } = await buildDraft({
    media: [{ ...picture(1), attribution }],
    sections: undefined as never,
    lesson: { further: { '10': 1, '9': 2 } },
  });
  const { report } = await publish(version);
  const versionId = report?.versionId ?? '';
  expect(report).toMatchObject({ warnings: [] });
  expect(await contentOf(versionId)).toEqual(await contentOf(version._id));
  const [before, after] = await Promise.all(
    [version._id, versionId].map((id) =>
      api.db.media.find({ versionId: id }).select({ _id: 0, versionId: 0, createdAt: 0 }).lean(),
    ),
  );
  expect(after).toEqual(before);
  expect(after).toHaveLength(1);
});

test('an author gets what another one has saved in the meantime; authors of different parts do not meet', async () => {
  const { version, draft } = await buildDraft();
  const save = (path: string, revision: number, html: string) =>
    send(version, path, { method: 'PUT', json: { revision, content: text(html) } });
  const answers = await Promise.all(['one', 'two'].map((html) => save('/steps/a', 1, html)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const lost = answers.find(({ status }) => status === 409) as Answer;
  const won = answers[0]?.status === 200 ? 'one' : 'two';
  expect(jsonOf(lost)).toMatchObject({
    ...{ error: 'Another author has saved in the meantime', code: 'CONFLICT' },
    ...{ stepId: 'a', revision: 2, content: text(won) },
  });
  expect(lost.headers.get('error-code')).toBe('CONFLICT');
  expect((jsonOf(await send(version, '/steps/a')) as Step).content).toEqual(text(won));
  expect((await save(`/steps/${encodeURIComponent('b/ä')}`, 1, 'b')).status).toBe(200);

  // A save that is refused is none: a publication that began before may end the draft.
  const { saves } = (await findDraft(api.db, api.organization._id, version.lessonId)) ?? {};
  expect((await save('/steps/a', 1, 'late')).status).toBe(409);
  expect((await findDraft(api.db, api.organization._id, version.lessonId))?.saves).toBe(saves);

  const skeleton = { ...draft.skeleton, lesson: { ...draft.skeleton.lesson, title: 'First' } };
  expect((await send(version, '', { method: 'PUT', json: { revision: 1, skeleton } })).status).toBe(200);
  const conflict = await send(version, '', {
    method: 'PUT',
    json: { revision: 1, skeleton: draft.skeleton },
  });
  expect(conflict.status).toBe(409);
  expect(jsonOf(conflict)).toMatchObject({
    code: 'CONFLICT',
    revision: 2,
    skeleton: { lesson: { title: 'First' } },
  });
  // A client that got no response repeats its save.
  expect(jsonOf(await save('/steps/a', 1, won))).toMatchObject({ revision: 2 });
  // A step that two authors add under one id.
  expect((await save('/steps/c', 0, 'c')).status).toBe(200);
  expect((await save('/steps/c', 0, 'other')).status).toBe(409);
  expectError(await save('/steps/d', 4, 'd'), 404, 'Step not found');
});

test('a lesson has one draft; discarding it keeps the versions, and a draft may begin with an older one', async () => {
  const { version } = await buildDraft();
  const create = (json = {}) => send(version, '', { method: 'POST', json });
  expectError(await create(), 409, 'The lesson has a draft. Discard it to begin with another version.');
  await send(version, '/steps/a', { method: 'PUT', json: { revision: 1, content: text('second') } });
  await publish(version);
  expect((jsonOf(await create({ versionId: version._id })) as Draft).versionId).toBe(version._id);
  expect((await send(version, '', { method: 'DELETE' })).status).toBe(204);
  for (const method of ['GET', 'DELETE'])
    expectError(await send(version, '', { method }), 404, 'Draft not found');
  const racing = await Promise.all(Array.from({ length: 4 }, () => create()));
  expect(racing.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  const step = jsonOf(await send(version, '/steps/a')) as Step;
  expect(step.content).toMatchObject(text('second'));
  expectError(await create({ versionId: randomUUID() }), 404, 'Lesson or version not found');
});

test('publishing keeps what authors save while it runs, and a draft with faults', async () => {
  const { version } = await buildDraft();
  const draft = await findDraft(api.db, api.organization._id, version.lessonId);
  // The author saves after the request, and before the worker reads the draft.
  await send(version, '/steps/a', { method: 'PUT', json: { revision: 1, content: text('late') } });
  const queued = await queueDraftImport(api.db, {
    ...{ _id: randomUUID(), organizationId: api.organization._id, fileName: 'draft' },
    options: {
      asNew: false,
      asMedia: false,
      publish: true,
      force: false,
      mediaBaseUrl: null,
      questionsPerStep: null,
      module: null,
    },
    draft: { id: draft?._id ?? '', saves: draft?.saves ?? 0 },
  });
  const { report } = await ended(api, queued?._id ?? '');
  expect((jsonOf(await send(version)) as Draft).versionId).toBe(report?.versionId);

  const content = { content: [{ type: 'Text', props: 'none' }] };
  await send(version, '/steps/a', { method: 'PUT', json: { revision: 2, content } });
  const { status, error } = await publish(version);
  expect({ status, code: error?.code }).toEqual({ status: 'failed', code: 'INVALID_CONTENT' });
  expect(error?.message).toContain(
    'lesson.json: sections[0].steps[0].content.content[0].props: must be an object',
  );
  expect((jsonOf(await send(version, '/steps/a')) as Step).content).toEqual(content);
  await send(version, '/steps/a', { method: 'PUT', json: { revision: 3, content: text('right') } });
  const forced = { publish: false, force: true };
  expectError(
    await send(version, '/publish', { method: 'POST', json: forced }),
    422,
    'force requires publish',
  );
  expect(await publish(version, { publish: false })).toMatchObject({ report: { published: false } });
});

test('a publication whose worker died at its end is reported with its version', async () => {
  const { version } = await buildDraft();
  const { id, report } = await publish(version);
  // As if the process had died before it stored the result.
  const again = { state: 'queued', report: null, endedAt: null, dueAt: new Date() } as const;
  await api.db.lessonImports.updateOne({ _id: id }, again);
  expect(await ended(api, id)).toMatchObject({
    status: 'imported',
    report: { versionId: report?.versionId },
  });
});

test('bad saves get a clear error and change nothing', async () => {
  const { version, draft } = await buildDraft();
  const put = (path: string, json: object | string) => send(version, path, { method: 'PUT', json });
  const { skeleton } = draft;
  const [section] = skeleton.sections;
  const twice = { ...skeleton, sections: [section, { ...section, id: 'other' }] };
  const cases: [path: string, json: object | string, status: number, error: string][] = [
    ['', { revision: 1, skeleton: twice }, 422, 'Two steps have the same id'],
    [
      '',
      { revision: 1, skeleton: { ...skeleton, lesson: { id: randomUUID(), title: '' } } },
      422,
      'lesson.id must be the id of the lesson',
    ],
    ['', { revision: 1, skeleton: { lesson: {} } }, 422, 'title must be a string'],
    ['/steps/a', { revision: 1, content: [] }, 422, 'content must be an object'],
    ['/steps/a', { content: text('') }, 422, 'revision must be the revision that the save builds on'],
    [
      '/steps/a',
      `{"revision":1,"content":{"content":${'['.repeat(300)}${']'.repeat(300)}}}`,
      422,
      'Request body must be valid JSON',
    ],
    [
      '/steps/a',
      { revision: 1, content: text('x'.repeat(maxPartBytes)) },
      413,
      `Request body must be at most ${maxPartBytes} bytes`,
    ],
  ];
  for (const [path, json, status, error] of cases) expectError(await put(path, json), status, error);
  const now = jsonOf(await send(version)) as Draft;
  expect(now).toEqual(draft);
});

test('the steps of a draft have at most 64 MiB together, and the last one can still be changed', async () => {
  const { version } = await buildDraft();
  const put = (stepId: string, revision: number) =>
    send(version, `/steps/${stepId}`, { method: 'PUT', json: { revision, content: text('new') } });
  const draft = await findDraft(api.db, api.organization._id, version.lessonId);
  const of = (stepId: string) => ({ draftId: draft?._id ?? '', stepId });
  await api.db.draftSteps.updateOne(of('a'), { bytes: maxDraftBytes });
  expectError(
    await put('c', 0),
    413,
    `The steps of a draft have at most ${maxDraftBytes} bytes together. Publish or discard it.`,
  );
  await api.db.draftSteps.deleteOne(of('b/ä'));
  expect((await put('a', 1)).status).toBe(200);
  expect((await put('c', 0)).status).toBe(200);
});

test('other organizations, deleted lessons and the plan without imports', async () => {
  const { version } = await buildDraft();
  const other = await buildOrganization(api);
  const asked: [method: string, path: string, json?: object][] = [
    ['POST', '', {}],
    ['GET', ''],
    ['PUT', '', { revision: 1, skeleton: { lesson: { title: '' }, sections: [] } }],
    ['DELETE', ''],
    ['GET', '/steps/a'],
    ['PUT', '/steps/a', { revision: 1, content: text('') }],
    ['POST', '/publish', {}],
  ];
  const all = (headers: Record<string, string>) =>
    Promise.all(
      asked.map(
        async ([method, path, json]) =>
          (await send(version, path, { method, headers, ...(json && { json }) })).status,
      ),
    );
  expect(await all(other.headers)).toEqual(asked.map(() => 404));
  const solo = await buildOrganization(api, { plan: 'solo' });
  expectError(
    await send(version, '/publish', { method: 'POST', json: {}, headers: solo.headers }),
    403,
    'Import is not available on your plan',
  );
  await ask(`${api.url}/api/lessons/${version.lessonId}`, { method: 'DELETE', headers: api.headers });
  expect(await all({})).toEqual(asked.map(() => 404));
});
