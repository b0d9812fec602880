import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { bookSections } from '../../bench/books/book.ts';
import type { LessonSkeleton } from '../../shared/lessons/lesson-skeleton.ts';
import { markLessonDeleted } from '../../shared/models/lesson.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { markVersionsUnpublished } from '../../shared/models/lesson-version.ts';
import { revokeTokens } from '../../shared/models/token-revocation.ts';
import { Player, publishLesson } from '../player/player-lessons.ts';
import { ask, jsonOf } from '../support/answers.ts';
import { buildLearnerToken, buildPreviewToken } from '../support/factories.ts';
import { testPepper } from '../support/harness.ts';
import { useApi } from '../support/use.ts';
import { bootOf, embedPath } from './embed-pages.ts';

const api = useApi();
const sections = bookSections({ steps: 60 });
const steps = sections.flatMap((section) => section.steps);
const publish = (publishNow = true) =>
  publishLesson(api, api.organization, { sections, publish: publishNow });

interface Boot {
  lesson: LessonSkeleton;
  chunk: number;
  content: { base: string; chunksUrl: string };
  steps: { id: string; content: object }[];
}

async function openPage(version: LessonVersion, token = buildLearnerToken(version)): Promise<Boot> {
  return bootOf(await ask(api.url + embedPath(version, token))) as unknown as Boot;
}

function urlsOf({ lesson, content }: Boot): string[] {
  return lesson.chunks.map(({ id }) => `${api.url}${content.chunksUrl}${id}`);
}

let version: LessonVersion;
let boot: Boot;
beforeAll(async () => {
  version = await publish();
  boot = await openPage(version);
});

describe('the chunks of a book', () => {
  test('contain all of its steps in playing order, and each section but a long one is in one chunk', async () => {
    const chunks = await Promise.all(
      urlsOf(boot).map(async (url) => jsonOf(await ask(url)) as Boot['steps']),
    );
    expect(chunks.length).toBeGreaterThan(2);
    expect(chunks.map((chunk) => chunk.length)).toEqual(boot.lesson.chunks.map((chunk) => chunk.steps));
    expect(chunks.flat()).toEqual(steps.map(({ id, content }) => ({ id, content })));
    const lengths = sections.map((section) => section.steps.length);
    const sectionEnds = lengths.map((_, index) =>
      lengths.slice(0, index + 1).reduce((sum, length) => sum + length),
    );
    const chunkEnds = chunks.map((_, index) => chunks.slice(0, index + 1).flat().length);
    expect(sectionEnds).toEqual(expect.arrayContaining(chunkEnds));
  });

  test('the page contains the one where the learner continues, and none of the other steps', async () => {
    expect([boot.chunk, boot.steps[0]?.id]).toEqual([0, steps[0]?.id]);
    const token = buildLearnerToken(version, { learnerId: 'further on' });
    await new Player(api.url, version, token).write({ currentSectionIndex: 4, currentStepIndex: 2 });
    const later = await openPage(version, token);
    expect(later.chunk).toBeGreaterThan(0);
    expect(later.steps.map(({ id }) => id)).toContain(steps[34]?.id);
    expect(later.steps.map(({ id }) => id)).not.toContain(steps[0]?.id);
    expect(JSON.stringify(later.lesson)).not.toContain('"Text"');
  });

  test('are named after their bytes, and browsers ask again before they show one', async () => {
    const [url = ''] = urlsOf(boot);
    const plain = await ask(url, { headers: { 'accept-encoding': 'identity' } });
    expect(createHash('sha256').update(plain.body).digest('base64url')).toBe(boot.lesson.chunks[0]?.id);
    expect(plain.headers.get('cache-control')).toBe('private, no-cache');
    const zipped = await ask(url, { headers: { 'accept-encoding': 'gzip' } });
    expect(zipped.headers.get('content-encoding')).toBe('gzip');
    expect(zipped.body).toEqual(plain.body);
    const etags = [plain, zipped].map(({ headers }) => headers.get('etag') ?? '');
    expect(new Set(etags).size).toBe(2);
    const known = await ask(url, { headers: { 'accept-encoding': 'gzip', 'if-none-match': etags[1] ?? '' } });
    expect([known.status, known.headers.get('vary')]).toEqual([304, 'Accept-Encoding']);
  });

  test('prepared by another release are still there for the pages that were open', async () => {
    const [url = ''] = urlsOf(boot);
    const { body } = await ask(url);
    await api.db.preparedParts.updateMany({ versionId: version._id }, { format: 99 });
    const other = await api.startApi();
    expect((await ask(url.replace(api.url, other))).body).toEqual(body);
    // What the preceding release has stored lacks chunks: they are prepared again.
    await api.db.preparedParts.deleteMany({ versionId: version._id, kind: /^chunk-/ });
    const third = await api.startApi();
    expect((await ask(url.replace(api.url, third))).body).toEqual(body);
  });
});

describe('the URL of a chunk', () => {
  test.each([
    ['with another signature', (url: string) => url.replace(/[\w-]{43}(?=\/chunks)/, 'A'.repeat(43)), 403],
    ['with a later expiry', (url: string) => url.replace(/\/(\d+)\//, '/9$1/'), 403],
    [
      'opens no media',
      (url: string) => url.replace(/chunks\/.*/, `media/${'0'.repeat(8)}-0000-4000-8000-000000000000`),
      403,
    ],
    ['with an unknown chunk', (url: string) => url.replace(/[\w-]{43}$/, 'A'.repeat(43)), 404],
  ])('%s is rejected', async (_what, change, status) => {
    const [url = ''] = urlsOf(boot);
    const answer = await ask(change(url));
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([status, 'no-store']);
  });

  test('is not valid if it was signed for media', async () => {
    const { pathname } = new URL(boot.content.base, api.url);
    const answer = await ask(`${api.url}${pathname}chunks/${boot.lesson.chunks[0]?.id}`);
    expect(answer.status).toBe(403);
  });

  test('stops at once when the version is unpublished or the lesson is deleted', async () => {
    for (const end of [
      ({ lessonId, _id }: LessonVersion) => markVersionsUnpublished(api.db, { lessonId, versionId: _id }),
      ({ lessonId }: LessonVersion) => markLessonDeleted(api.db, lessonId),
    ]) {
      const ending = await publish();
      const [url = ''] = urlsOf(await openPage(ending));
      expect((await ask(url)).status).toBe(200);
      await end(ending);
      expect((await ask(url)).status).toBe(404);
    }
  });

  test('expires at most two hours after the token was revoked, and is not renewed', async () => {
    const token = buildLearnerToken(version, { learnerId: 'revoked', seconds: 86_400 });
    const page = await openPage(version, token);
    const [url = ''] = urlsOf(page);
    const { organizationId, lessonId } = version;
    await revokeTokens(api.db, testPepper, { organizationId, lessonId, learnerId: 'revoked' }, new Date());
    const content = `${api.url}/api/public/lessons/${lessonId}/content?token=${token}`;
    expect((await ask(content)).status).toBe(401);
    vi.useFakeTimers({ now: Date.now() + 2 * 3600 * 1000, toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    expect((await ask(url)).status).toBe(403);
  });

  test('in a preview opens a draft, is not cached, and expires with the preview', async () => {
    const draft = await publish(false);
    const token = buildPreviewToken(draft);
    const [url = ''] = urlsOf(await openPage(draft, token));
    const answer = await ask(url);
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
      exp: number;
    };
    expect(url).toContain(`/${exp}/`);
  });
});
