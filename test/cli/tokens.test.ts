import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { findRevocation } from '../../shared/models/token-revocation.ts';
import { deleteLesson } from '../../shared/publishing/publishing.ts';
import { learnerOfToken, verifyPlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { EmbedToken } from '../../shared/tokens/player-tokens.ts';
import { buildLearnerToken, buildOrganization, buildPackage, buildVersion } from '../support/factories.ts';
import { testPepper, testSigningSecrets } from '../support/harness.ts';
import { useCommandLine } from './command-line.ts';

const { harness, run, json, errorOf } = useCommandLine();
let organization: Organization;
let version: LessonVersion;

const publish = async (owner = organization, options: { publish?: boolean } = {}) =>
  buildVersion(harness, owner, (await buildPackage()).path, options);

beforeAll(async () => {
  ({ organization } = await buildOrganization(harness));
  version = await publish();
});

const read = (token: string) => verifyPlayerToken(testSigningSecrets, token) as EmbedToken;

const signing = (...args: string[]) => ['token', 'sign', '--lesson', version.lessonId, ...args];
const signJson = (...args: string[]) =>
  json(...signing(...args)) as Promise<{ token: string; expiresAt: string }>;

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

  test('fails with a message for unknown ids', async () => {
    const [draft, deleted] = [await publish(organization, { publish: false }), await publish()];
    await deleteLesson(harness.db, deleted.lessonId);
    const sign = (lessonId: string) => ['token', 'sign', '--lesson', lessonId, '--learner', 'l', '--json'];
    for (const lessonId of [randomUUID(), deleted.lessonId]) {
      expect(await errorOf(...sign(lessonId))).toBe(
        `lectern: There is no lesson ${lessonId}. See: lectern lesson list\n`,
      );
    }
    expect(await errorOf(...sign(draft.lessonId), '--version', '1')).toBe(
      'lectern: Version 1 of a-lesson is not published.\n',
    );
    expect(await errorOf(...sign(version.lessonId), '--version', '7')).toBe(
      'lectern: a-lesson has no version 7; it has 1.\n',
    );
    expect(await run(...sign(draft.lessonId))).toMatchObject({ code: 0 });
  });

  test.each([
    ['--timeout', '86401', 'timeout must be an integer between 1 and 86400'],
    ['--attributes', '[1]', 'userAttributes must be an object'],
  ])('with %s %s, which the API rejects, fails with the same message', async (option, value, message) => {
    expect(await errorOf(...signing('--learner', 'l', option, value))).toBe(`lectern: ${message}\n`);
  });
});

describe('lectern token revoke', () => {
  const isGone = async (token: string) =>
    (await findRevocation(harness.db, testPepper, {
      ...read(token),
      learner: learnerOfToken(read(token)),
    })) === 'revoked';

  test('rejects the tokens signed so far; tokens signed after the command are valid', async () => {
    const lesson = await publish();
    const old = buildLearnerToken(lesson);
    const other = buildLearnerToken(await publish());
    expect(await json('token', 'revoke', '--lesson', lesson.lessonId)).toStrictEqual({
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
    const gone = () => Promise.all([ofAnn, ofAnnToo, ofBen].map(isGone));
    const revoke = ['token', 'revoke', '--org', own.slug];
    const ofLearner = { organizationId: own._id, lessonId: null, learnerId: 'ann' };
    expect(await json(...revoke, '--learner', 'ann')).toMatchObject(ofLearner);
    expect(await gone()).toEqual([true, true, false]);

    const { code, stdout } = await run(...revoke);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`^Revoked tokens of ${own.slug} signed up to \\d{4}-.*Z\\n$`));
    expect(await gone()).toEqual([true, true, true]);
  });

  test('fails for unknown ids, and revokes nothing', async () => {
    const { organization: stranger } = await buildOrganization(harness);
    const before = await harness.db.tokenRevocations.countDocuments();
    const missing = randomUUID();
    for (const [args, error] of [
      [['--org', 'unknown'], 'There is no organization "unknown". See: lectern org list'],
      [['--lesson', missing], `There is no lesson ${missing}. See: lectern lesson list`],
      [
        ['--org', stranger.slug, '--lesson', version.lessonId],
        `${stranger.slug} has no lesson ${version.lessonId}. See: lectern lesson list`,
      ],
    ] as const) {
      expect(await errorOf('token', 'revoke', ...args)).toBe(`lectern: ${error}\n`);
    }
    expect(await harness.db.tokenRevocations.countDocuments()).toBe(before);
  });
});
