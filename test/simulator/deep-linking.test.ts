import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import type { JWTPayload } from 'jose';
import { describe, expect, test } from 'vitest';
import type { Course } from '../../simulator/model.ts';
import { useSimulatorLab } from './simulator-lab.ts';

const lab = useSimulatorLab();

const claim = (name: string) => `https://purl.imsglobal.org/spec/lti/claim/${name}`;
const dl = (name: string) => `https://purl.imsglobal.org/spec/lti-dl/claim/${name}`;

interface Settings {
  deep_link_return_url: string;
  data?: string;
}

/** Asks the tool for content, and gives the settings of the request. */
async function request(course: Course, settings: object = {}): Promise<Settings> {
  const { simulator, scripted } = lab;
  const deepLink = { course, tool: scripted.tool, settings: settings as Record<string, unknown> };
  const { fields } = await simulator.driveLaunch({ user: simulator.sample.users.teacher, deepLink });
  return decodeJwt(fields.id_token ?? '')[dl('deep_linking_settings')] as Settings;
}

const item = { type: 'ltiResourceLink', title: 'Tides', custom: { lesson: '1' } };

function respond({ data }: Settings, changes: JWTPayload = {}) {
  const { simulator, scripted } = lab;
  return scripted.sign({
    aud: simulator.issuer,
    nonce: randomUUID(),
    [claim('message_type')]: 'LtiDeepLinkingResponse',
    [claim('version')]: '1.3.0',
    [claim('deployment_id')]: scripted.tool.deploymentIds[0],
    [dl('content_items')]: [item],
    [dl('data')]: data,
    ...changes,
  });
}

const post = (address: string, jwt: string) =>
  fetch(address, { method: 'POST', body: new URLSearchParams({ JWT: jwt }) });

describe('a deep linking response', () => {
  test('puts its links into the course, with parameters and line items', async () => {
    const { simulator, scripted } = lab;
    const course = simulator.addCourse();
    const settings = await request(course);
    const lineItem = { scoreMaximum: 5, label: 'Tides quiz', resourceId: 'r', tag: 't' };
    const items = [
      { ...item, url: `${scripted.url}/launch?a=1`, lineItem },
      { ...item, title: 'Moon' },
    ];
    const answer = await post(
      settings.deep_link_return_url,
      await respond(settings, { [dl('content_items')]: items }),
    );
    expect(answer.status).toBe(200);

    const [first, second, ...others] = simulator.linksOf(course);
    if (first === undefined || second === undefined) throw new Error('no links');
    expect(others).toStrictEqual([]);
    expect(first).toMatchObject({
      title: 'Tides',
      url: `${scripted.url}/launch?a=1`,
      custom: { lesson: '1' },
    });
    expect(simulator.lineItemsOf(first)).toMatchObject([lineItem]);
    expect(second).toMatchObject({ title: 'Moon', url: scripted.tool.targetLinkUri });
    expect(simulator.lineItemsOf(second)).toStrictEqual([]);
  });

  test('declares line items in vain where the platform takes none', async () => {
    const { simulator } = lab;
    const course = simulator.addCourse();
    const settings = await request(course, { accept_lineitem: false });
    const items = [{ ...item, lineItem: { scoreMaximum: 5 } }];
    const jwt = await respond(settings, { [dl('content_items')]: items });
    expect((await post(settings.deep_link_return_url, jwt)).status).toBe(200);
    const [link] = simulator.linksOf(course);
    expect(link && simulator.lineItemsOf(link)).toStrictEqual([]);
  });

  test('may choose nothing, and say why', async () => {
    const settings = await request(lab.simulator.sample.course);
    const nothing = { [dl('content_items')]: undefined, [dl('errormsg')]: 'Nothing <b>there</b>' };
    const answer = await post(settings.deep_link_return_url, await respond(settings, nothing));
    expect(await answer.text()).toContain('Nothing &lt;b&gt;there');
  });

  test('is taken once, and so is each nonce', async () => {
    const { simulator } = lab;
    const course = simulator.addCourse();
    const settings = await request(course);
    const jwt = await respond(settings, { nonce: 'the same' });
    expect((await post(settings.deep_link_return_url, jwt)).status).toBe(200);
    expect((await post(settings.deep_link_return_url, jwt)).status).toBe(400);
    expect((await post(settings.deep_link_return_url, await respond(settings))).status).toBe(400);
    const next = await request(course);
    expect((await post(next.deep_link_return_url, await respond(next, { nonce: 'the same' }))).status).toBe(
      400,
    );
    expect(simulator.linksOf(course)).toHaveLength(1);
  });

  test.each([
    ['of an unknown tool', { iss: 'somebody' }],
    ['for another platform', { aud: 'https://other.example' }],
    ['that has expired', { iat: 1, exp: 2 }],
    ['without a nonce', { nonce: undefined }],
    ['of another type', { [claim('message_type')]: 'LtiResourceLinkRequest' }],
    ['of another version', { [claim('version')]: '1.1' }],
    ['of another deployment', { [claim('deployment_id')]: '2' }],
    ['with other data', { [dl('data')]: 'other' }],
    ['without the data', { [dl('data')]: undefined }],
    ['with content that was not asked for', { [dl('content_items')]: [{ type: 'html', html: 'x' }] }],
    ['with a parameter that is no text', { [dl('content_items')]: [{ ...item, custom: { a: 1 } }] }],
    [
      'with a line item of no points',
      { [dl('content_items')]: [{ ...item, lineItem: { scoreMaximum: 0 } }] },
    ],
  ])('%s is refused, and nothing is stored', async (_, changes) => {
    const course = lab.simulator.addCourse();
    const settings = await request(course);
    const answer = await post(settings.deep_link_return_url, await respond(settings, changes));
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('Refused');
    expect(lab.simulator.linksOf(course)).toStrictEqual([]);
  });

  test('with two links is refused where one was asked for', async () => {
    const course = lab.simulator.addCourse();
    const settings = await request(course, { accept_multiple: false });
    const jwt = await respond(settings, { [dl('content_items')]: [item, item] });
    expect((await post(settings.deep_link_return_url, jwt)).status).toBe(400);
  });
});
