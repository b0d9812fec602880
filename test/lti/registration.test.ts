import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { areRelated } from '../../shared/lti/platform-url.ts';
import { startSimulator } from '../../simulator/start.ts';
import { gradeScopes, toolConfiguration } from '../../shared/lti/claims.ts';
import { createLtiKeys } from '../../shared/lti/keys.ts';
import { createPlatformClient } from '../../shared/lti/platform-requests.ts';
import { createServiceTokens } from '../../shared/lti/service-token.ts';
import { changePlatform, listPlatforms } from '../../shared/models/lti-platform.ts';
import { inviteRegistration } from '../../shared/models/lti-registration.ts';
import { ask } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { textOf } from '../embed/embed-pages.ts';
import { testPepper } from '../support/harness.ts';
import { file } from '../support/origin.ts';
import { useApi, useOrigin, useStarted } from '../support/use.ts';

const simulator = useStarted(startSimulator, (started) => started.close());
/** A platform that does not send its deployment id during the registration. */
const silent = useStarted(
  () => startSimulator({ deploymentOnRegistration: false }),
  (started) => started.close(),
);
const origin = useOrigin();
const canvas = useStarted(
  () => startSimulator({ canvas: true }),
  (started) => started.close(),
);
const api = useApi(() => ({
  LECTERN_ALLOWED_PRIVATE_HOSTS: [
    ...[simulator, silent, canvas].map(({ issuer }) => new URL(issuer).host),
    origin.host,
  ].join(','),
}));

/** The URL that `platform invite` would print. */
async function invite(): Promise<string> {
  const { token } = await inviteRegistration(api.db, api.organization._id);
  return `${api.url}/lti/register/${token}`;
}

const platforms = () => listPlatforms(api.db, api.organization._id);
const posts = () => simulator.requests.filter(({ path }) => path.endsWith('/registration')).length;

function expectPage(answer: Answer, status: number, text: string): void {
  expect({ status: answer.status, text: textOf(answer) }).toEqual({
    status,
    text: expect.stringContaining(text) as string,
  });
}

describe('an invited platform', () => {
  test('registers Lectern, and waits for approval', async () => {
    const answer = await ask(simulator.registrationUrl(await invite()));
    const [platform] = (await platforms()).slice(-1);
    const { urls, issuer } = simulator;
    expect(platform).toMatchObject({
      organizationId: api.organization._id,
      issuer,
      authUrl: urls.authorization,
      tokenUrl: urls.token,
      jwksUrl: urls.jwks,
      name: 'lectern-simulator',
      status: 'pending',
      deploymentIds: [expect.any(String)],
    });
    expectPage(answer, 200, `lectern platform approve ${platform?._id ?? ''}`);
    expect(answer.headers.get('content-security-policy')).toContain("script-src 'self'");
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  test('gets everything that LTI needs; Lectern requests no permission beyond grades', async () => {
    await ask(simulator.registrationUrl(await invite()));
    const [tool] = simulator.tools().slice(-1);
    expect(tool).toMatchObject({
      name: 'Lectern',
      loginUrl: `${api.url}/lti/login`,
      redirectUris: [`${api.url}/lti/launch`],
      jwksUrl: `${api.url}/lti/jwks/${(await platforms()).at(-1)?.keySetId}`,
      targetLinkUri: `${api.url}/lti/launch`,
      deepLinkUrl: `${api.url}/lti/launch`,
      custom: {
        resource_link_history: '$ResourceLink.id.history',
        context_history: '$Context.id.history',
      },
    });
    expect(tool?.scopes.map((scope) => scope.split('/').at(-1)).toSorted()).toEqual(['lineitem', 'score']);
  });

  test('may omit its deployment, which the approval then gives', async () => {
    const answer = await ask(silent.registrationUrl(await invite()));
    const [platform] = (await platforms()).slice(-1);
    expect(platform?.deploymentIds).toEqual([]);
    expectPage(answer, 200, `lectern platform approve ${platform?._id ?? ''} --deployment-id ID`);
  });

  test('may use its invitation once', async () => {
    const invitation = await invite();
    expect((await ask(simulator.registrationUrl(invitation))).status).toBe(200);
    const before = posts();
    expectPage(await ask(simulator.registrationUrl(invitation)), 409, 'invitation_used');
    expect(posts()).toBe(before);
  });

  test('is registered once, even by concurrent requests', async () => {
    const invitation = await invite();
    const before = { posts: posts(), platforms: (await platforms()).length };
    const asked = Array.from({ length: 8 }, () => ask(simulator.registrationUrl(invitation)));
    const statuses = (await Promise.all(asked)).map(({ status }) => status).toSorted();
    expect(statuses).toEqual([200, ...Array.from({ length: 7 }, () => 409)]);
    expect({ posts: posts(), platforms: (await platforms()).length }).toEqual({
      posts: before.posts + 1,
      platforms: before.platforms + 1,
    });
  });

  test('may retry after an interrupted registration, once that one can no longer complete', async () => {
    const invitation = await invite();
    const attempt = (seconds: number) =>
      api.db.ltiRegistrations.updateMany(
        { platformId: null, organizationId: api.organization._id },
        { attemptUntil: new Date(Date.now() + seconds * 1000) },
      );
    await attempt(60);
    expectPage(await ask(simulator.registrationUrl(invitation)), 409, 'registration_under_way');
    await attempt(-1);
    expect((await ask(simulator.registrationUrl(invitation))).status).toBe(200);
  });
});

test('after a registration in Canvas, teachers choose lessons in modules and assignments, and grades arrive', async () => {
  expect((await ask(canvas.registrationUrl(await invite()))).status).toBe(200);
  const [pending] = (await platforms()).slice(-1);
  const [tool] = canvas.tools();
  if (pending === undefined || tool === undefined) throw new Error('nothing is registered');
  expect(pending).toMatchObject({ deploymentIds: [], tokenAudience: null, name: 'canvas' });
  const platform = (await changePlatform(api.db, pending._id, { status: 'active' }, tool.deploymentIds))!;
  const { users, course } = canvas.sample;
  for (const placement of ['link_selection', 'assignment_selection']) {
    const deepLink = { course, tool, placement };
    const answer = await canvas.submitLaunch(await canvas.driveLaunch({ user: users.teacher, deepLink }));
    expect({ placement, to: answer.headers.get('location') }).toEqual({
      placement,
      to: expect.stringContaining('/lti/select/') as string,
    });
  }
  const client = createPlatformClient({ allowedPrivateHosts: [new URL(canvas.issuer).host] });
  const keys = createLtiKeys(api.db, { keyPepper: testPepper });
  await createServiceTokens({ client, keys }).get(platform, [gradeScopes.score]);
  client.close();
});

test.each([
  [['ContentArea', 'RichTextEditor'], ['ContentArea']],
  [
    ['link_selection', 'assignment_selection', 'editor_button'],
    ['assignment_selection', 'link_selection'],
  ],
  [
    ['https://canvas.instructure.com/lti/link_selection', 'https://canvas.instructure.com/lti/other'],
    ['https://canvas.instructure.com/lti/link_selection'],
  ],
  [[], undefined],
  [undefined, undefined],
])(
  'of the placements %j, Lectern registers deep linking in %j, before its other message',
  async (offered, used) => {
    const { token } = await inviteRegistration(api.db, api.organization._id);
    const url = new URL(`${api.url}/lti/register/${token}`);
    const messages = [{ type: 'LtiDeepLinkingRequest', placements: offered }];
    const configuration = {
      issuer: origin.url(`/${randomUUID()}`),
      authorization_endpoint: origin.url('/auth'),
      token_endpoint: origin.url('/token'),
      jwks_uri: origin.url('/jwks'),
      registration_endpoint: origin.url('/register'),
      'https://purl.imsglobal.org/spec/lti-platform-configuration': { messages_supported: messages },
    };
    const body = { client_id: 7 };
    let sent = '';
    origin.script('/configuration', file(JSON.stringify(configuration), { contentType: 'application/json' }));
    origin.script('/register', async (request, response) => {
      sent = await text(request);
      response.end(JSON.stringify(body));
    });
    url.searchParams.set('openid_configuration', origin.url('/configuration'));
    expect((await ask(url.href)).status).toBe(200);
    const { [toolConfiguration]: tool } = JSON.parse(sent) as Record<string, { messages: unknown[] }>;
    expect(tool?.messages).toEqual([
      expect.objectContaining({ type: 'LtiDeepLinkingRequest', ...(used && { placements: used }) }),
      expect.objectContaining({ type: 'LtiResourceLinkRequest' }),
    ]);
  },
);

test('a request without a valid invitation causes no outbound request', async () => {
  const before = simulator.requests.length;
  const foreign = simulator.registrationUrl(`${api.url}/lti/register/${randomUUID()}`);
  expectPage(await ask(foreign), 404, 'invitation_unknown');
  const expired = await invite();
  await api.db.ltiRegistrations.updateMany({ platformId: null }, { expiresAt: new Date() });
  expectPage(await ask(simulator.registrationUrl(expired)), 403, 'invitation_expired');
  expect(simulator.requests.length).toBe(before);
});

test.each([
  ['lms.example', 'lms.example', true],
  ['school.lms.example', 'lms.example', true],
  ['school.lms.example', 'www.lms.example', true],
  ['school.lms.co.uk', 'www.lms.co.uk', true],
  ['school.co.uk', 'evil.co.uk', false],
  ['school.github.io', 'evil.github.io', false],
  ['api.brightspace.com', 'auth.brightspace.com', true],
  ['localhost', 'lms.localhost', false],
  ['lms.example', 'lms.evil', false],
  ['lms.example', 'evil.example', false],
  ['lms.example.evil.test', 'lms.example', false],
  ['evillms.example', 'lms.example', false],
  ['10.1.2.3', '11.1.2.3', false],
])('a configuration at %s for an issuer at %s: %s', (one, other, related) => {
  expect(areRelated(one, other)).toBe(related);
  expect(areRelated(other, one)).toBe(related);
});
