import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { isRevoked } from '../../shared/models/token-revocation.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { verifyPlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { EmbedToken } from '../../shared/tokens/player-tokens.ts';
import { deleteLesson } from '../../shared/publishing/publishing.ts';
import { buildLearnerToken, buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { startHarness, testSigningSecrets } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { lectern, lecternHere, lecternJson } from './command-line.ts';

let harness: Harness;
let organization: Organization;
let version: LessonVersion;

const publish = async (owner = organization, options: { publish?: boolean } = {}) =>
  buildVersion(harness, owner, (await buildPackage()).path, options);

beforeAll(async () => {
  harness = await startHarness();
  ({ organization } = await buildOrganization(harness));
  version = await publish();
});
afterAll(() => harness.close());

const read = (token: string) => verifyPlayerToken(testSigningSecrets, token) as EmbedToken;

const signing = (...args: string[]) => ['token', 'sign', '--lesson', version.lessonId, ...args];
const signJson = (...args: string[]) =>
  lecternJson(harness.environment, ...signing(...args)) as Promise<{
    token: string;
    expiresAt: string;
  }>;
const revoke = (...args: string[]) => lecternHere(harness.environment, 'token', 'revoke', ...args);

describe('lectern token sign', () => {
  test('prints the same token as the API signs, and its expiry', async () => {
    const { lessonId, organizationId } = version;
    const { token, expiresAt, ...rest } = await signJson('--learner', 'learner-1');
    expect(rest).toStrictEqual({ url: null });
    const found = read(token);
    expect(found).toMatchObject({ kind: 'embed', lessonId, organizationId, versionId: null });
    expect(found).toMatchObject({ learnerId: 'learner-1', userAttributes: '{}' });
    expect(found.expiresAt - found.issuedAt).toBe(7200);
    expect(expiresAt).toBe(new Date(found.expiresAt * 1000).toISOString());
  });

  test('pins a version by its number, and takes a timeout and attributes unchanged', async () => {
    const attributes = '{"b":1, "10":12345678901234567890, "2":2}';
    const more = ['--version', '1', '--timeout', '60', '--attributes', attributes];
    const token = read((await signJson('--learner', 'é 😀', ...more)).token);
    expect(token).toMatchObject({ versionId: version._id, learnerId: 'é 😀', userAttributes: attributes });
    expect(token.expiresAt - token.issuedAt).toBe(60);
  });

  test('prints only the token without --json, for use in scripts', async () => {
    const { code, stdout, stderr } = await lectern(harness.environment, ...signing('--learner', 'learner-1'));
    expect(code).toBe(0);
    expect(stderr).toMatch(/^No link: .*PUBLIC_URL.*\n$/);
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    expect(read(stdout.trim())).toMatchObject({ learnerId: 'learner-1' });
  });

  test('fails with a message for unknown ids', async () => {
    const [draft, deleted] = [await publish(organization, { publish: false }), await publish()];
    await deleteLesson(harness.db, deleted.lessonId);
    const learner = ['--learner', 'l', '--json'];
    const command = (lessonId: string, ...args: string[]) =>
      lecternHere(harness.environment, 'token', 'sign', '--lesson', lessonId, ...learner, ...args);
    const failed = { code: 1, stdout: '' };
    for (const lessonId of [randomUUID(), deleted.lessonId]) {
      const stderr = `lectern: There is no lesson ${lessonId}. See: lectern lesson list\n`;
      expect(await command(lessonId)).toMatchObject({ ...failed, stderr });
    }
    expect(await command(draft.lessonId, '--version', '1')).toMatchObject({
      ...failed,
      stderr: 'lectern: Version 1 of a-lesson is not published.\n',
    });
    expect(await command(version.lessonId, '--version', '7')).toMatchObject({
      ...failed,
      stderr: 'lectern: a-lesson has no version 7; it has 1.\n',
    });
    expect(await command(draft.lessonId)).toMatchObject({ code: 0 });
  });

  test.each([
    ['a timeout', '--timeout', '86401', 'timeout must be an integer between 1 and 86400'],
    ['attributes', '--attributes', '[1]', 'userAttributes must be an object'],
  ])('with %s, which the API rejects, fails with the same message', async (_what, option, value, message) => {
    const { code, stdout, stderr } = await lecternHere(
      harness.environment,
      ...signing('--learner', 'l', option, value),
    );
    expect({ code, stdout, stderr }).toStrictEqual({ code: 1, stdout: '', stderr: `lectern: ${message}\n` });
  });

  test.each([
    ['without a learner', []],
    ['for a learner with a control character', ['--learner', 'a\nb']],
    ['with attributes that are not JSON', ['--learner', 'l', '--attributes', '{']],
    ['with half a second', ['--learner', 'l', '--timeout', '1.5']],
  ])('%s has exit code 2', async (_what, args) => {
    const { code, stdout, stderr } = await lecternHere(harness.environment, ...signing(...args));
    expect({ code, stdout }).toStrictEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^lectern: .*\n/);
    expect(stderr).toContain('See: lectern token sign --help');
  });
});

describe('lectern token revoke', () => {
  const isGone = (token: string) => {
    const { learnerId, ...rest } = read(token);
    return isRevoked(harness.db, { ...rest, learnerId });
  };

  test('rejects the tokens signed so far; tokens signed after the command are valid', async () => {
    const lesson = await publish();
    const old = buildLearnerToken(lesson);
    const other = buildLearnerToken(await publish());
    const revoked = await lecternJson(harness.environment, 'token', 'revoke', '--lesson', lesson.lessonId);
    expect(revoked).toStrictEqual({
      organizationId: organization._id,
      lessonId: lesson.lessonId,
      learnerId: null,
      revokedBefore: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
    });
    const fresh = buildLearnerToken(lesson);
    expect([await isGone(old), await isGone(other), await isGone(fresh)]).toEqual([true, false, false]);
  });

  test('with a learner covers all lessons; with an organization it covers all learners', async () => {
    const { organization: own } = await buildOrganization(harness);
    const [one, two] = [await publish(own), await publish(own)];
    const [ofAnn, ofAnnToo, ofBen] = [
      buildLearnerToken(one, { learnerId: 'ann' }),
      buildLearnerToken(two, { learnerId: 'ann' }),
      buildLearnerToken(one, { learnerId: 'ben' }),
    ];
    const goneOf = () => Promise.all([ofAnn, ofAnnToo, ofBen].map(isGone));
    const json = ['token', 'revoke', '--org', own.slug];
    expect(await lecternJson(harness.environment, ...json, '--learner', 'ann')).toMatchObject({
      organizationId: own._id,
      lessonId: null,
      learnerId: 'ann',
    });
    expect(await goneOf()).toEqual([true, true, false]);

    const { code, stdout } = await lectern(harness.environment, 'token', 'revoke', '--org', own.slug);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Revoked tokens of ${own.slug} signed up to \\d{4}-.*Z\\n$`));
    expect(await goneOf()).toEqual([true, true, true]);
  });

  test('fails for unknown ids, and revokes nothing', async () => {
    const { organization: stranger } = await buildOrganization(harness);
    const before = await harness.db.tokenRevocations.countDocuments();
    const missing = randomUUID();
    for (const [args, stderr] of [
      [['--org', 'nobody'], 'There is no organization "nobody". See: lectern org list'],
      [['--lesson', missing], `There is no lesson ${missing}. See: lectern lesson list`],
      [
        ['--org', stranger.slug, '--lesson', version.lessonId],
        `${stranger.slug} has no lesson ${version.lessonId}. See: lectern lesson list`,
      ],
    ] as const) {
      expect(await revoke(...args)).toMatchObject({ code: 1, stdout: '', stderr: `lectern: ${stderr}\n` });
    }
    expect(await harness.db.tokenRevocations.countDocuments()).toBe(before);
  });

  test('with a learner requires the organization: without it the exit code is 2', async () => {
    expect(await revoke('--learner', 'ann')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'lectern: say whose tokens, with --org or --lesson\nSee: lectern token revoke --help\n',
    });
  });
});
