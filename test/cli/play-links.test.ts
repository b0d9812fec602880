import { beforeAll, describe, expect, test } from 'vitest';
import { verifyPlayerToken } from '../../shared/tokens/player-tokens.ts';
import { ask } from '../support/answers.ts';
import { bootOf } from '../embed/embed-pages.ts';
import { buildPackage, buildVersion } from '../support/factories.ts';
import { testSigningSecrets } from '../support/harness.ts';
import { useApi } from '../support/use.ts';
import { errorIn, lecternHere, lecternJson } from './command-line.ts';

const api = useApi();
let environment: Record<string, string>;
beforeAll(() => {
  environment = { ...api.environment, PUBLIC_URL: api.url };
});

const publishAlso = (path: string) => ['lesson', 'import', path, '--org', api.organization.slug, '--publish'];

/** Returns the data that the page behind a link starts with. */
const bootAt = async (url: string) => bootOf(await ask(url));

const tokenIn = (url: string) => {
  const token = new URL(url).searchParams.get('token') ?? '';
  return { token, ...verifyPlayerToken(testSigningSecrets, token) };
};

const linkIn = (text: string) => /http:\/\/\S+\/embed\/\S+/.exec(text)?.[0] ?? '';

interface Preview {
  url: string;
  expiresAt: string;
}

describe('lectern lesson preview', () => {
  test('prints a link that plays the newest version, a draft, in an installation without published lessons', async () => {
    expect(await api.db.widgetReleases.countDocuments()).toBe(0);
    const { path, lessonId } = await buildPackage();
    const { _id: versionId } = await buildVersion(api, api.organization, path, { publish: false });
    const preview = (await lecternJson(environment, 'lesson', 'preview', lessonId)) as Preview;
    const { url, expiresAt, ...rest } = preview;
    expect(rest).toEqual({ lessonId, versionId, versionNumber: 1, status: 'draft' });
    expect(tokenIn(url)).toMatchObject({ kind: 'preview', versionId });
    expect(expiresAt).toBe(new Date(tokenIn(url).expiresAt * 1000).toISOString());
    const boot = await bootAt(url);
    expect(boot).toMatchObject({ page: 'lesson', versionId, untracked: 'authorPreview' });
    const { base } = boot.content as { base: string };
    expect((await ask(`${api.url}${base}widgets/Heading.js`)).status).toBe(302);
  });

  test('explains the link, and plays the requested version', async () => {
    const { path, lessonId } = await buildPackage();
    const first = await buildVersion(api, api.organization, path);
    await buildVersion(api, api.organization, (await buildPackage({ lessonId })).path, { publish: false });
    const shown = await lecternHere(environment, 'lesson', 'preview', lessonId, '--version', '1');
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toMatch(
      /^A lesson, version 1 \(published\)\nPreview, until .*Z; nothing is recorded:\n/,
    );
    expect(await bootAt(linkIn(shown.stdout))).toMatchObject({ versionId: first._id });
  });

  test('rejects what cannot be shown, and says what to do', async () => {
    const { path, lessonId } = await buildPackage({ sections: [] });
    await buildVersion(api, api.organization, path, { publish: false });
    const error = async () =>
      errorIn(await lecternHere(environment, 'lesson', 'preview', lessonId, '--json'));
    expect(await error()).toMatch(
      /^lectern: Version 1 of a-lesson cannot be played yet: .*lectern lesson check\n$/,
    );
    await api.db.lessonVersions.updateOne({ lessonId }, { status: 'unpublished', problems: [] });
    expect(await error()).toBe('lectern: Version 1 of a-lesson is unpublished. Publish it to preview it.\n');
  });
});

describe('a published version', () => {
  test('is shown by the link of import --publish and of publish, which is a preview of that version', async () => {
    const { path, lessonId, versionId } = await buildPackage();
    const imported = (await lecternJson(environment, ...publishAlso(path))) as { preview: Preview };
    const published = (await lecternJson(environment, 'lesson', 'publish', lessonId)) as { preview: Preview };
    for (const { preview } of [imported, published]) {
      expect(tokenIn(preview.url)).toMatchObject({ kind: 'preview', versionId });
      expect(await bootAt(preview.url)).toMatchObject({ page: 'lesson', versionId });
    }
    const { stdout } = await lecternHere(environment, 'lesson', 'publish', lessonId);
    expect(stdout).toContain('; nothing is recorded:\n');
    expect(await bootAt(linkIn(stdout))).toMatchObject({ page: 'lesson', versionId });
    expect(await api.db.embedProgress.countDocuments()).toBe(0);
  });
});

test('token sign prints a link that plays the lesson as the learner, and only the token on stdout', async () => {
  const { path, lessonId, versionId } = await buildPackage();
  await buildVersion(api, api.organization, path);
  const sign = ['token', 'sign', '--lesson', lessonId, '--learner', 'ada'];
  const { code, stdout, stderr } = await lecternHere(environment, ...sign);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
  expect(tokenIn(linkIn(stderr)).token).toBe(stdout.trim());
  const { url, token } = (await lecternJson(environment, ...sign)) as { url: string; token: string };
  expect(tokenIn(url)).toMatchObject({ token, kind: 'embed', learnerId: 'ada' });
  expect(await bootAt(url)).toMatchObject({ versionId, untracked: null, session: { learnerId: 'ada' } });

  expect((await lecternHere({ ...environment, PUBLIC_URL: '' }, ...sign)).stderr).toMatch(
    /^No link: .*PUBLIC_URL.*\n$/,
  );
  // Without PUBLIC_URL the link leads to this machine.
  const local = { ...environment, PUBLIC_URL: '', PORT: '3456', HOST: '0.0.0.0' };
  expect(await lecternJson(local, ...sign)).toMatchObject({
    url: expect.stringMatching(`^http://127.0.0.1:3456/embed/${lessonId}\\?token=`) as string,
  });
});
