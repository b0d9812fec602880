import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import type { JWTPayload } from 'jose';
import { describe, expect, test } from 'vitest';
import type { Course } from '../../simulator/model.ts';
import { claim } from '../../simulator/vocabulary.ts';
import { useSimulatorLab } from './scripted-tool.ts';

/*
 * The simulator shows the faults of a tool: it accepts what the standards require, and rejects everything else. The
 * tests of launches, deep linking and registration (test/lti) run against it too.
 */

const lab = useSimulatorLab();

describe('an authorization request', () => {
  test.each([
    ['another scope', { scope: 'profile' }, 'invalid_scope'],
    ['no state', { state: undefined }, 'invalid_request'],
    ['the hint of another user', { login_hint: 'other' }, 'login_required'],
  ])('with %s gets an error instead of a message', async (_, changes, error) => {
    const { simulator, scripted } = lab;
    scripted.authorization = changes;
    const user = simulator.sample.users.learner;
    const { action, fields } = await simulator.driveLaunch({ user, link: scripted.link() });
    expect(action).toBe(`${scripted.url}/launch`);
    expect(fields).toMatchObject({ error });
    expect(fields).not.toHaveProperty('id_token');
    expect('state' in fields).toBe(!('state' in changes));
  });

  test.each([
    ['a similar redirect URI', { redirect_uri: 'http://127.0.0.1/launch/' }],
    ['an unknown client', { client_id: 'other' }],
  ])('with %s gets an error page and no redirect', async (_, changes) => {
    const { simulator, scripted } = lab;
    scripted.authorization = changes;
    const launch = simulator.driveLaunch({ user: simulator.sample.users.learner, link: scripted.link() });
    await expect(launch).rejects.toThrow('400');
  });

  test('uses up its hint: exactly one concurrent request gets the message', async () => {
    const { simulator, scripted } = lab;
    const { learner: user } = simulator.sample.users;
    scripted.authorization = { login_hint: 'other' };
    const rejected = await simulator.driveLaunch({ user, link: scripted.link() });
    const url = new URL(rejected.authorizationUrl);
    url.searchParams.set('login_hint', user.loginHint);
    const pages = await Promise.all(Array.from({ length: 8 }, async () => (await fetch(url)).text()));
    expect(pages.filter((page) => page.includes('id_token'))).toHaveLength(1);
    expect(await (await fetch(url)).text()).toContain('launch_no_longer_valid');
  });
});

test('a launch names the line item of a link only if there is exactly one, and hides anonymous users', async () => {
  const { simulator, scripted } = lab;
  const { learner, anonymous } = simulator.sample.users;
  const claimsOf = async (options: Parameters<typeof simulator.driveLaunch>[0]) =>
    decodeJwt((await simulator.driveLaunch(options)).fields.id_token ?? '');
  const link = scripted.link({ custom: { user: '$User.id', unknown: '$No.such' } });
  const owner = { course: simulator.sample.course, tool: scripted.tool, link };
  for (const named of [false, true, false]) {
    const service = (await claimsOf({ user: learner, link }))[claim.gradeService] as object;
    expect('lineitem' in service).toBe(named);
    simulator.addLineItem(owner, { label: 'a', scoreMaximum: 1 });
  }
  const claims = await claimsOf({ user: anonymous, link });
  for (const name of ['sub', 'name', 'email', claim.lis]) expect(claims).not.toHaveProperty([name]);
  expect(claims[claim.custom]).toEqual({ user: '$User.id', unknown: '$No.such' });
});

describe('a deep linking response', () => {
  const content = { type: 'ltiResourceLink', title: 'Tides', custom: { lesson: '1' } };

  interface Settings {
    deep_link_return_url: string;
    data?: string;
  }

  async function request(course: Course, settings: Record<string, unknown> = {}): Promise<Settings> {
    const { simulator, scripted } = lab;
    const deepLink = { course, tool: scripted.tool, settings };
    const { fields } = await simulator.driveLaunch({ user: simulator.sample.users.teacher, deepLink });
    return decodeJwt(fields.id_token ?? '')[claim.deepLinkingSettings] as Settings;
  }

  async function respond(
    settings: Settings,
    changes: JWTPayload = {},
  ): Promise<{ status: number; page: string }> {
    const { simulator, scripted } = lab;
    const jwt = await scripted.sign({
      aud: simulator.issuer,
      nonce: randomUUID(),
      [claim.messageType]: 'LtiDeepLinkingResponse',
      [claim.version]: '1.3.0',
      [claim.deploymentId]: scripted.tool.deploymentIds[0],
      [claim.contentItems]: [content],
      [claim.deepLinkingData]: settings.data,
      ...changes,
    });
    const body = new URLSearchParams({ JWT: jwt });
    const response = await fetch(settings.deep_link_return_url, { method: 'POST', body });
    return { status: response.status, page: await response.text() };
  }

  test('adds its links and line items to the course, once', async () => {
    const { simulator, scripted } = lab;
    const course = simulator.addCourse();
    const settings = await request(course);
    const lineItem = { scoreMaximum: 5, label: 'Quiz', tag: 't' };
    const items = [
      { ...content, url: `${scripted.url}/launch?a=1`, lineItem },
      { ...content, title: 'Moon' },
    ];
    const once = { nonce: 'the same', [claim.contentItems]: items };
    expect((await respond(settings, once)).status).toBe(200);
    expect((await respond(settings)).status).toBe(400);
    expect((await respond(await request(course), once)).status).toBe(400);
    const links = simulator.linksOf(course);
    expect(links).toMatchObject([
      { title: 'Tides', url: `${scripted.url}/launch?a=1`, custom: { lesson: '1' } },
      { title: 'Moon', url: scripted.tool.targetLinkUri },
    ]);
    expect(links.map((link) => simulator.lineItemsOf(link))).toMatchObject([[lineItem], []]);
  });

  test.each<[string, JWTPayload, Record<string, unknown>?]>([
    ['for another platform', { aud: 'https://other.example' }],
    ['that has expired', { iat: 1, exp: 2 }],
    ['of another type', { [claim.messageType]: 'LtiResourceLinkRequest' }],
    ['with other data', { [claim.deepLinkingData]: 'other' }],
    ['with another type of content', { [claim.contentItems]: [{ type: 'html', html: 'x' }] }],
    ['with two links for one', { [claim.contentItems]: [content, content] }, { accept_multiple: false }],
  ])('%s is rejected, and nothing is stored', async (_, changes, settings) => {
    const course = lab.simulator.addCourse();
    const response = await respond(await request(course, settings), changes);
    expect(response.status).toBe(400);
    expect(response.page).toContain('Rejected');
    expect(lab.simulator.linksOf(course)).toEqual([]);
  });
});
