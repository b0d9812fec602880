import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { unpublish } from '../../shared/publishing/publishing.ts';
import { buildLaunchToken, buildLearnerToken } from '../support/factories.ts';
import { usedMemory } from '../support/garbage.ts';
import { ask, expectError, jsonOf } from '../support/answers.ts';
import { heading, publishLesson, section, step, useLesson } from './player-lessons.ts';
import { useApi } from '../support/use.ts';
import { pngWith } from '../exports/pictures.ts';

const api = useApi();
const version = useLesson(api);

const load = (version: Pick<LessonVersion, 'lessonId'>, token: string, query = '') =>
  ask(`${api.url}/api/public/lessons/${version.lessonId}/player-data?token=${token}${query}`);

const publish = (content: Parameters<typeof publishLesson>[2] = {}) =>
  publishLesson(api, api.organization, content);

interface PlayerData {
  lesson: { lesson: { title: string }; sections: unknown[] };
}

async function titleFor(version: LessonVersion, token = buildLearnerToken(version)): Promise<string> {
  const answer = await load(version, token);
  expect(answer.status).toBe(200);
  return (jsonOf(answer) as PlayerData).lesson.lesson.title;
}

describe('the body', () => {
  test('has exactly the documented fields, in playing order, whatever else lesson.json contains', async () => {
    const extra = { author: 'private', notes: ['private'] };
    const variable = { name: 'points', type: 'number', initialValue: 0, ...extra };
    const first = { ...step('s1', heading()), order_index: 1, ...extra };
    const second = { ...step('s2', heading()), order_index: 2, ...extra };
    const version = await publish({
      lesson: {
        title: 'The title',
        variable_definitions: [variable, { name: 'later', type: 'string' }],
        widget_settings: { overrides: { Heading: { level: 3 } }, ...extra },
        ...extra,
      },
      sections: [
        { ...section('two', step('s3', heading())), order_index: 9, ...extra },
        { ...section('one', second, first), order_index: 4, ...extra },
      ],
    });
    const answer = await load(version, buildLearnerToken(version, { userAttributes: '{"group":"B"}' }));
    const played = (id: string, order_index: number) => ({
      id,
      title: `Title of ${id}`,
      order_index,
      content: { content: [heading()], root: { props: {} } },
    });
    expect(answer.status).toBe(200);
    expect(jsonOf(answer)).toStrictEqual({
      lesson: {
        lesson: {
          id: version.lessonId,
          title: 'The title',
          status: 'published',
          variable_definitions: [
            { name: 'points', type: 'number', initialValue: 0 },
            { name: 'later', type: 'string', initialValue: null },
          ],
          widget_settings: { overrides: { Heading: { level: 3 } } },
        },
        sections: [
          { id: 'one', title: 'Title of one', order_index: 4, steps: [played('s1', 1), played('s2', 2)] },
          { id: 'two', title: 'Title of two', order_index: 9, steps: [played('s3', 0)] },
        ],
        totalSteps: 3,
        totalSections: 2,
        attributions: [],
      },
      userAttributes: { group: 'B' },
      playability: { valid: true, errors: [] },
    });
  });

  test('keeps media references, and the zones of older content', async () => {
    const id = randomUUID();
    const picture = { type: 'Image', props: { id: 'Image-1', src: `media:${id}`, alt: '', caption: '' } };
    const content = {
      content: [picture],
      root: { props: {} },
      zones: { 'Image-1:below': [heading('below')] },
    };
    const media = [{ id, bytes: pngWith('a picture') }];
    const version = await publish({ media, sections: [section('one', { ...step('s1'), content })] });
    const { lesson } = jsonOf(await load(version, buildLearnerToken(version))) as PlayerData;
    expect(lesson.sections).toMatchObject([{ steps: [{ content }] }]);
  });

  test("has the token's attributes as the integrator wrote them, and none for an LTI launch", async () => {
    const userAttributes = '{ "b":1, "10":1.10, "2":12345678901234567890, "__proto__":{"$a.b":"\\u0000"} }';
    const body = (await load(version, buildLearnerToken(version, { userAttributes }))).body.toString();
    expect(body).toContain(`,"userAttributes":${userAttributes},"playability":`);
    const launched = jsonOf(await load(version, buildLaunchToken(version)));
    expect(launched).toMatchObject({ userAttributes: {} });
  });

  test('is returned for the largest token that can be issued', async () => {
    const body = {
      lessonId: version.lessonId,
      versionId: version._id,
      learnerId: '😀'.repeat(255),
      userAttributes: { a: 'x'.repeat(8184) },
      timeout: 86_400,
    };
    const signed = await ask(`${api.url}/api/public/sign-token`, {
      method: 'POST',
      headers: { ...api.headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = await load(version, (jsonOf(signed) as { token: string }).token);
    expect(answer.status).toBe(200);
    expect(jsonOf(answer)).toMatchObject({ userAttributes: body.userAttributes });
  });

  test('has metadata and playability as requested', async () => {
    const membersFor = async (query: string) =>
      Object.keys(jsonOf(await load(version, buildLearnerToken(version), query)) as object).slice(2);
    expect(await membersFor('')).toEqual(['playability']);
    expect(await membersFor('&validate_playability=true&something=else')).toEqual(['playability']);
    expect(await membersFor('&include_metadata=true')).toEqual(['metadata', 'playability']);
    expect(await membersFor('&include_metadata=false&validate_playability=false')).toEqual([]);
    expect(await membersFor('&include_metadata=true&validate_playability=false')).toEqual(['metadata']);
  });
});

describe('the loaded version', () => {
  test('is the newest published one at each load, or the one that the token pins', async () => {
    const one = await publish({ lesson: { title: 'One' } });
    const { lessonId } = one;
    const [open, pinned] = [buildLearnerToken(one), buildLearnerToken(one, { versionId: one._id })];
    expect([await titleFor(one, open), await titleFor(one, pinned)]).toEqual(['One', 'One']);

    await publish({ lessonId, lesson: { title: 'Draft' }, publish: false });
    expect(await titleFor(one, open)).toBe('One');
    const two = await publish({ lessonId, lesson: { title: 'Two' } });
    expect([await titleFor(one, open), await titleFor(one, pinned)]).toEqual(['Two', 'One']);

    await unpublish(api.db, lessonId, two._id);
    expect(await titleFor(one, open)).toBe('One');
    await unpublish(api.db, lessonId, one._id);
    for (const token of [open, pinned])
      expectError(await load(one, token), 404, 'Lesson not found or access denied');
  });

  test('is found whatever the case of the lesson id in the path', async () => {
    const upperCase = { lessonId: version.lessonId.toUpperCase() };
    expect((await load(upperCase, buildLearnerToken(version))).status).toBe(200);
  });

  test('must be playable, unless the request disables that check', async () => {
    const unplayable = await publish({ sections: [section('one', step('s1'))] });
    const token = buildLearnerToken(unplayable);
    for (const query of ['', '&validate_playability=true']) {
      const error = 'Lesson has validation errors that prevent playback';
      expectError(await load(unplayable, token, query), 422, error);
    }
    const answer = await load(unplayable, token, '&validate_playability=false');
    expect(Object.keys(jsonOf(answer) as object)).toEqual(['lesson', 'userAttributes']);
  });

  test('plays with an unknown widget or a missing media file', async () => {
    const blocks = [
      { type: 'Unheard', props: { id: 'u' } },
      { type: 'Image', props: { id: 'i', src: `media:${randomUUID()}`, alt: '', caption: '' } },
    ];
    const version = await publish({ sections: [section('one', step('s1', ...blocks))] });
    expect((await load(version, buildLearnerToken(version))).status).toBe(200);
  });
});

describe('a large lesson', () => {
  /** More than the buffers of two sockets hold. */
  const textBytes = 12 * 1024 ** 2;
  const text = { type: 'Text', props: { id: 'text', html: 'x'.repeat(textBytes) } };
  const large = useLesson(api, { sections: [section('one', step('s1', text))] });
  const path = () => `/api/public/lessons/${large.lessonId}/player-data?token=${buildLearnerToken(large)}`;
  const readers: Socket[] = [];
  afterAll(() => readers.forEach((reader) => reader.destroy()));

  /** Requests the lesson, reads the beginning of the response, and stops. */
  async function beginToRead(): Promise<string> {
    const { hostname, port } = new URL(api.url);
    const reader = connect(Number(port), hostname);
    readers.push(reader);
    reader.write(`GET ${path()} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
    const beginning = await new Promise<Buffer>((resolve) => reader.once('data', resolve));
    reader.pause();
    return beginning.toString('latin1');
  }

  test('arrives completely, and HEAD returns its length', async () => {
    const headers = { 'accept-encoding': 'identity' };
    const answer = await ask(api.url + path(), { headers });
    expect(answer.headers.get('content-length')).toBe(String(answer.body.length));
    expect(jsonOf(answer)).toMatchObject({ lesson: { totalSteps: 1 }, userAttributes: {} });
    const head = await ask(api.url + path(), { method: 'HEAD', headers });
    expect(head.headers.get('content-length')).toBe(String(answer.body.length));
  });

  test('is shared by many slow readers, who hold no copies', async () => {
    await beginToRead();
    const before = usedMemory().arrayBuffers;
    for (let count = 0; count < 6; count += 1) expect(await beginToRead()).toMatch(/^HTTP\/1\.1 200 /);
    // Six copies would take twice as much. Other code may allocate meanwhile, such as 17 MB for a second copy of BSON.
    expect(usedMemory().arrayBuffers - before).toBeLessThan(3 * textBytes);
  });
});
