import { decodeJwt, decodeProtectedHeader } from 'jose';
import { describe, expect, test } from 'vitest';
import { claim } from '../../shared/lti/claims.ts';
import type { LtiResourceLink } from '../../shared/models/lti-resource-link.ts';
import { unpublish } from '../../shared/publishing/publishing.ts';
import { publishLesson } from '../player/player-lessons.ts';
import { ask } from '../support/answers.ts';
import { beginSelection, deliver, formOf, sendSelection } from './support/selection.ts';
import { claimsOf, useLaunchLab } from './support/launch-lab.ts';

const lab = useLaunchLab();

/** Decodes the response without verifying it, because the platform verifies it. */
const claimsIn = (answer: Parameters<typeof formOf>[0]) => decodeJwt(formOf(answer).jwt);
const itemsIn = (answer: Parameters<typeof formOf>[0]) =>
  claimsIn(answer)[claim.contentItems] as Record<string, unknown>[];

const oneOf = (lessonId: string, more = {}) => ({ [`lesson.${lessonId}`]: 'on', ...more });

describe('a teacher', () => {
  test('selects a lesson, and learners launch it from the course and from a copy of the course', async () => {
    const { simulator, version } = lab;
    const { lessonId } = version;
    const url = await beginSelection(lab);
    const answer = await sendSelection(url, oneOf(lessonId, { [`column.${lessonId}`]: 'on' }));
    expect(await deliver(answer)).toBe(200);
    const link = simulator.linksOf(simulator.sample.course).at(-1);
    if (link === undefined) throw new Error('there is no link');
    expect(link).toMatchObject({ title: 'A lesson', url: `${lab.address}/lti/launch?lesson=${lessonId}` });
    expect(simulator.lineItemsOf(link)).toMatchObject([
      { label: 'A lesson', scoreMaximum: 100, resourceId: lessonId, tag: 'lectern' },
    ]);
    expect(claimsOf(await lab.launch({ link }))).toMatchObject({ lessonId, versionId: null });
    const copied = simulator.linksOf(simulator.copyCourse(simulator.sample.course)).at(-1);
    expect(claimsOf(await lab.launch({ ...(copied && { link: copied }) }))).toMatchObject({ lessonId });
  });

  test('selects several at once, each with its own settings', async () => {
    const { harness, organization } = lab;
    const first = await publishLesson(harness, organization, { lesson: { title: 'First' } });
    const { lessonId } = first;
    await publishLesson(harness, organization, { lessonId, lesson: { title: 'First, corrected' } });
    const second = await publishLesson(harness, organization, { lesson: { title: 'Second' } });
    const answer = await sendSelection(await beginSelection(lab), {
      ...oneOf(lessonId, { [`version.${lessonId}`]: first._id }),
      ...oneOf(second.lessonId, { [`version.${second.lessonId}`]: '', [`column.${second.lessonId}`]: 'on' }),
    });
    const histories = {
      resource_link_history: '$ResourceLink.id.history',
      context_history: '$Context.id.history',
    };
    expect(itemsIn(answer)).toStrictEqual([
      {
        type: 'ltiResourceLink',
        title: 'First',
        url: `${lab.address}/lti/launch?lesson=${lessonId}`,
        custom: { lesson_id: lessonId, version_id: first._id, ...histories, gradebook_column: 'none' },
      },
      {
        type: 'ltiResourceLink',
        title: 'Second',
        url: `${lab.address}/lti/launch?lesson=${second.lessonId}`,
        custom: { lesson_id: second.lessonId, ...histories },
        lineItem: { scoreMaximum: 100, label: 'Second', resourceId: second.lessonId, tag: 'lectern' },
      },
    ]);
    expect(await deliver(answer)).toBe(200);
    const [pinned] = lab.simulator.linksOf(lab.simulator.sample.course).slice(-2);
    const launched = claimsOf(await lab.launch({ ...(pinned && { link: pinned }) }));
    expect(launched).toMatchObject({ lessonId, versionId: first._id });
  });

  test('cancels, and the platform learns that nothing was selected', async () => {
    const before = lab.simulator.linksOf(lab.simulator.sample.course).length;
    const fields = { ...oneOf(lab.version.lessonId), action: 'cancel' };
    const answer = await sendSelection(await beginSelection(lab), fields);
    expect(itemsIn(answer)).toEqual([]);
    expect(await deliver(answer)).toBe(200);
    expect(lab.simulator.linksOf(lab.simulator.sample.course)).toHaveLength(before);
  });
});

describe('the response to a platform', () => {
  test('is signed by a key of Lectern, for exactly this platform and request', async () => {
    const url = await beginSelection(lab, { settings: { data: 'as it came "{}" ä' } });
    const answer = await sendSelection(url, oneOf(lab.version.lessonId));
    const { action, jwt } = formOf(answer);
    const { keys } = (await (await fetch(lab.tool.jwksUrl)).json()) as { keys: { kid: string }[] };
    expect(decodeProtectedHeader(jwt)).toEqual({
      alg: 'RS256',
      typ: 'JWT',
      kid: expect.toSatisfy((kid) => keys.some((key) => key.kid === kid)) as string,
    });
    expect(action).toBe(lab.simulator.urls.deepLinkingReturn);
    const { iat = 0, ...claims } = claimsIn(answer);
    expect(claims).toMatchObject({
      iss: lab.tool.clientId,
      aud: lab.simulator.issuer,
      exp: iat + 600,
      nonce: expect.stringMatching(/^[\w-]{20,}$/) as string,
      [claim.messageType]: 'LtiDeepLinkingResponse',
      [claim.version]: '1.3.0',
      [claim.deploymentId]: lab.tool.deploymentIds[0],
      [claim.deepLinkingData]: 'as it came "{}" ä',
    });
    const again = claimsIn(await sendSelection(url, oneOf(lab.version.lessonId)));
    expect(again.nonce).not.toBe(claims.nonce);
  });

  test.each([
    ['"text"'],
    ['""'],
    ['null'],
    ['0'],
    ['false'],
    ['-1.50e2'],
    ['12345678901234567890'],
    ['[1,{"2":"b","1":"a"}]'],
    ['{"a":"<\\u00e9\\/>","a":1.0}'],
  ])('has the data of the request, unchanged: %s', async (data) => {
    // The platform's own JSON: its last member is the data.
    const edit = (token: string) => {
      const [header = '', payload = ''] = token.split('.');
      const text = Buffer.from(payload, 'base64url')
        .toString()
        .replace('"PLACE"', () => data);
      const signed = `${header}.${Buffer.from(text).toString('base64url')}`;
      return `${signed}.${lab.simulator.sign(signed)}`;
    };
    const url = await beginSelection(lab, { settings: { data: 'PLACE' }, tampering: { edit } });
    const { jwt } = formOf(await sendSelection(url, oneOf(lab.version.lessonId)));
    const payload = Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString();
    expect(payload).toContain(`"${claim.deepLinkingData}":${data}`);
    expect(() => decodeJwt(jwt)).not.toThrow();
  });

  test.each([
    ['says null for all that is optional', { data: null, accept_types: null, accept_multiple: null }],
    ['does not say what it accepts', { accept_types: undefined }],
    ['takes more than what a string can say', { accept_types: ['ltiResourceLink', null, {}] }],
  ])('is accepted by a platform that %s', async (_what, settings) => {
    const answer = await sendSelection(await beginSelection(lab, { settings }), oneOf(lab.version.lessonId));
    expect(itemsIn(answer)).toHaveLength(1);
  });

  test('omits data where the request had none, and the line item where the platform accepts none', async () => {
    const { lessonId } = lab.version;
    const settings = { data: undefined, accept_lineitem: false };
    const url = await beginSelection(lab, { settings });
    expect((await ask(url)).body.toString()).not.toContain('gradebook');
    const answer = await sendSelection(url, oneOf(lessonId, { [`column.${lessonId}`]: 'on' }));
    expect(claimsIn(answer)).not.toHaveProperty([claim.deepLinkingData]);
    expect(itemsIn(answer)[0]).not.toHaveProperty('lineItem');
    expect(itemsIn(answer)[0]).not.toHaveProperty('custom.gradebook_column');
  });

  test('omits the line item where the teacher wants none, and launches then expect no score', async () => {
    const { lessonId } = lab.version;
    const answer = await sendSelection(await beginSelection(lab), oneOf(lessonId));
    expect(itemsIn(answer)[0]).toMatchObject({ custom: { gradebook_column: 'none' } });
    expect(itemsIn(answer)[0]).not.toHaveProperty('lineItem');
    expect(await deliver(answer)).toBe(200);
    const link = lab.simulator.linksOf(lab.simulator.sample.course).at(-1);
    expect((await lab.launch({ ...(link && { link }) })).status).toBe(303);
    const { ltiResourceLinks, ltiScores } = lab.harness.db;
    const row = await ltiResourceLinks.findOne({ resourceLinkId: link?.id }).lean<LtiResourceLink>();
    expect(row).toMatchObject({ withoutColumn: true, lineItemUrl: null });
    expect(await ltiScores.countDocuments({ linkId: row?._id })).toBe(0);
  });

  test('leaves from a page that names its origin, and whose form may be redirected to any host of the platform', async () => {
    const answer = await sendSelection(await beginSelection(lab), oneOf(lab.version.lessonId));
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('form-action');
    expect(answer.headers.get('referrer-policy')).toBe('strict-origin');
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });
});

test.each([null, undefined, ''])('a request may have %j as its target', async (target) => {
  const tampering = { claims: { [claim.targetLinkUri]: target } };
  expect((await ask(await beginSelection(lab, { tampering }))).status).toBe(200);
});

describe('the page appears again with the reason when', () => {
  const refusedText = async (url: string, fields: Record<string, string>) => {
    const answer = await sendSelection(url, fields);
    expect(answer.status).toBe(422);
    expect(formOf(answer).jwt).toBe('');
    return /role="alert">([^<]*)</.exec(answer.body.toString())?.[1];
  };

  test('nothing is selected', async () => {
    expect(await refusedText(await beginSelection(lab), {})).toBe('You haven’t chosen a lesson yet.');
  });

  test('more lessons are selected than the platform accepts', async () => {
    const other = await publishLesson(lab.harness, lab.organization);
    const url = await beginSelection(lab, { settings: { accept_multiple: false } });
    const both = { ...oneOf(lab.version.lessonId), ...oneOf(other.lessonId) };
    expect(await refusedText(url, both)).toBe('That’s too many at once. Choose at most 1 lesson.');
    const [only] = itemsIn(await sendSelection(url, { lesson: other.lessonId }));
    expect(only).toMatchObject({ custom: { lesson_id: other.lessonId } });
  });

  test('a lesson or version is no longer published or never existed', async () => {
    const { harness, organization } = lab;
    const gone = await publishLesson(harness, organization);
    const kept = await publishLesson(harness, organization);
    const draft = await publishLesson(harness, organization, { lessonId: kept.lessonId, publish: false });
    const url = await beginSelection(lab);
    await unpublish(harness.db, gone.lessonId);
    const text = 'Something you chose is no longer available. Check your selection.';
    expect(await refusedText(url, oneOf(gone.lessonId))).toBe(text);
    expect(await refusedText(url, oneOf('5b0d1c7e-2f0b-4b5e-9a77-64a1f1d2c3b4'))).toBe(text);
    const pinned = { [`version.${kept.lessonId}`]: draft._id };
    expect(await refusedText(url, oneOf(kept.lessonId, pinned))).toBe(text);
  });
});
