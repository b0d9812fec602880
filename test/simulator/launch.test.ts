import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { useSimulatorLab } from './simulator-lab.ts';

const lab = useSimulatorLab();

const claim = (name: string) => `https://purl.imsglobal.org/spec/lti/claim/${name}`;
const endpoint = 'https://purl.imsglobal.org/spec/lti-ags/claim/endpoint';

describe('a launch of a link', () => {
  test('brings the user, course, link and grade services, signed by a published key', async () => {
    const { simulator, scripted } = lab;
    const { course, users } = simulator.sample;
    const link = scripted.link({ title: 'Tides', lineItem: { label: 'Tides', scoreMaximum: 100 } });
    const { action, fields } = await simulator.driveLaunch({ user: users.learner, link, locale: 'de' });
    expect(action).toBe(`${scripted.url}/launch`);
    expect(Object.keys(fields)).toStrictEqual(['id_token', 'state']);

    const keys = createRemoteJWKSet(new URL(simulator.addresses.jwks));
    const { payload, protectedHeader } = await jwtVerify(fields.id_token ?? '', keys, {
      issuer: simulator.issuer,
      audience: scripted.tool.clientId,
    });
    expect(protectedHeader).toStrictEqual({ alg: 'RS256', typ: 'JWT', kid: expect.any(String) as string });
    const [item] = simulator.lineItemsOf(link);
    if (item === undefined) throw new Error('no line item');
    expect(payload).toMatchObject({
      sub: users.learner.id,
      name: 'Lena Brandt',
      email: 'lena.brandt@school.example',
      [claim('message_type')]: 'LtiResourceLinkRequest',
      [claim('version')]: '1.3.0',
      [claim('deployment_id')]: scripted.tool.deploymentIds[0],
      [claim('target_link_uri')]: `${scripted.url}/launch`,
      [claim('roles')]: users.learner.roles,
      [claim('context')]: { id: course.id, title: course.title },
      [claim('resource_link')]: { id: link.id, title: 'Tides' },
      [claim('launch_presentation')]: { locale: 'de', document_target: 'iframe' },
      [endpoint]: { lineitem: simulator.addressOf(item) },
    });
    expect(simulator.addressOf(item)).toMatch(/\/lineitem\?type_id=1$/);
  });

  test('names no line item where the link has none or two, and no grade services without scopes', async () => {
    const { simulator, scripted } = lab;
    const { learner: user } = simulator.sample.users;
    const claims = async (options: Parameters<typeof simulator.driveLaunch>[0]) =>
      decodeJwt((await simulator.driveLaunch(options)).fields.id_token ?? '');

    const link = scripted.link();
    expect((await claims({ user, link }))[endpoint]).not.toHaveProperty('lineitem');
    const owner = { course: simulator.sample.course, tool: scripted.tool, link };
    simulator.addLineItem(owner, { label: 'a', scoreMaximum: 1 });
    expect((await claims({ user, link }))[endpoint]).toHaveProperty('lineitem');
    simulator.addLineItem(owner, { label: 'b', scoreMaximum: 1 });
    expect((await claims({ user, link }))[endpoint]).not.toHaveProperty('lineitem');

    const tool = scripted.register({ scopes: [] });
    expect(await claims({ user, link: scripted.link({ tool }) })).not.toHaveProperty([endpoint]);
  });

  test('says nothing of who an anonymous user is', async () => {
    const { simulator, scripted } = lab;
    const link = scripted.link({ custom: { who: '$User.id' } });
    const { fields } = await simulator.driveLaunch({ user: simulator.sample.users.anonymous, link });
    const claims = decodeJwt(fields.id_token ?? '');
    for (const name of ['sub', 'name', 'given_name', 'family_name', 'email', claim('lis')]) {
      expect(claims).not.toHaveProperty([name]);
    }
    expect(claims[claim('custom')]).toStrictEqual({ who: '$User.id' });
  });

  test('fills in the variables it knows, whole parameters only, and leaves others as they are', async () => {
    const { simulator, scripted } = lab;
    const { learner: user } = simulator.sample.users;
    const course = simulator.addCourse();
    const tool = scripted.register({ custom: { course: '$Context.id', own: 'yes' } });
    scripted.link({
      course,
      tool,
      custom: {
        before: '$ResourceLink.id.history',
        courses: '$Context.id.history',
        what: '$No.such',
        a: 'a $User.id',
      },
    });
    const copy = simulator.copyCourse(simulator.copyCourse(course));
    const [link] = simulator.linksOf(copy);
    if (link === undefined) throw new Error('no copy');
    const { fields } = await simulator.driveLaunch({ user, link });
    expect(decodeJwt(fields.id_token ?? '')[claim('custom')]).toStrictEqual({
      course: copy.id,
      own: 'yes',
      before: link.history.join(','),
      courses: copy.history.join(','),
      what: '$No.such',
      a: 'a $User.id',
    });
    expect(copy.history).toStrictEqual([expect.any(String), course.id]);
  });

  test('offers platform storage by name, in the login and in the launch', async () => {
    const { simulator, scripted } = lab;
    const link = scripted.link();
    const { learner: user } = simulator.sample.users;
    const { fields } = await simulator.driveLaunch({ user, link, storageTarget: '_parent', method: 'POST' });
    expect(fields.lti_storage_target).toBe('_parent');
    expect((await simulator.driveLaunch({ user, link })).fields).not.toHaveProperty('lti_storage_target');
  });

  test('200 at once are each their own', async () => {
    const { simulator, scripted } = lab;
    const link = scripted.link();
    const users = Array.from({ length: 200 }, () => simulator.addUser());
    const launches = await Promise.all(users.map((user) => simulator.driveLaunch({ user, link })));
    expect(launches.map(({ fields }) => decodeJwt(fields.id_token ?? '').sub)).toStrictEqual(
      users.map(({ id }) => id),
    );
  });
});

describe('an authorization request', () => {
  test.each([
    ['another scope', { scope: 'profile' }, 'invalid_scope'],
    ['another response type', { response_type: 'code' }, 'unsupported_response_type'],
    ['another response mode', { response_mode: 'query' }, 'invalid_request'],
    ['a prompt', { prompt: 'login' }, 'invalid_request'],
    ['no nonce', { nonce: undefined }, 'invalid_request'],
    ['no state', { state: undefined }, 'invalid_request'],
    ['the hint of another user', { login_hint: 'somebody' }, 'login_required'],
    ['no message hint', { lti_message_hint: undefined }, 'login_required'],
  ])('with %s gets an error instead of a message', async (_, authorization, error) => {
    const { simulator, scripted } = lab;
    scripted.authorization = authorization;
    const link = scripted.link();
    const { action, fields } = await simulator.driveLaunch({ user: simulator.sample.users.learner, link });
    expect(action).toBe(`${scripted.url}/launch`);
    expect(fields).toMatchObject({ error });
    expect(fields).not.toHaveProperty('id_token');
    expect('state' in fields).toBe(!('state' in authorization));
  });

  test.each([
    ['an address that is not registered', { redirect_uri: 'https://evil.example/launch' }],
    ['an address that is almost registered', { redirect_uri: 'http://127.0.0.1/launch/' }],
    ['an unknown client', { client_id: 'nobody' }],
  ])('with %s gets an error page for the user and no redirect', async (_, authorization) => {
    const { simulator, scripted } = lab;
    scripted.authorization = authorization;
    const launch = simulator.driveLaunch({ user: simulator.sample.users.learner, link: scripted.link() });
    await expect(launch).rejects.toThrow('answered with 400');
  });

  test('for the message of another tool is refused', async () => {
    const { simulator, scripted } = lab;
    scripted.authorization = { client_id: scripted.register().clientId };
    const link = scripted.link();
    const { fields } = await simulator.driveLaunch({ user: simulator.sample.users.learner, link });
    expect(fields.error).toBe('unauthorized_client');
  });

  test('with a hint that was used gets no second message, and of many at once one does', async () => {
    const { simulator, scripted } = lab;
    const { learner: user } = simulator.sample.users;
    const { authorizationUrl } = await simulator.driveLaunch({ user, link: scripted.link() });
    const ask = async () => (await fetch(authorizationUrl)).text();
    expect(await ask()).toContain('launch_no_longer_valid');
    expect(await ask()).not.toContain('id_token');

    scripted.authorization = { login_hint: 'somebody' };
    const refused = await simulator.driveLaunch({ user, link: scripted.link() });
    const asked = new URL(refused.authorizationUrl);
    asked.searchParams.set('login_hint', user.loginHint);
    // What was refused has used nothing up.
    const pages = await Promise.all(Array.from({ length: 8 }, async () => (await fetch(asked)).text()));
    expect(pages.filter((page) => page.includes('id_token'))).toHaveLength(1);
  });
});

describe('what is made wrong', () => {
  test.each([
    ['another key', 'RS256', 'signature verification failed'],
    ['broken', 'RS256', 'signature verification failed'],
    ['none', 'none', '"alg" (Algorithm) Header Parameter value not allowed'],
    ['HS256', 'HS256', '"alg" (Algorithm) Header Parameter value not allowed'],
  ] as const)('as the signature (%s) is in the header and fails', async (signature, alg, message) => {
    const { simulator, scripted } = lab;
    const link = scripted.link();
    const options = { user: simulator.sample.users.learner, link, tampering: { signature } };
    const token = (await simulator.driveLaunch(options)).fields.id_token ?? '';
    expect(decodeProtectedHeader(token).alg).toBe(alg);
    const keys = createRemoteJWKSet(new URL(simulator.addresses.jwks));
    await expect(jwtVerify(token, keys, { algorithms: ['RS256'] })).rejects.toThrow(message);
  });

  test('of claims and header is in the next token alone, well signed', async () => {
    const { simulator, scripted } = lab;
    const link = scripted.link();
    const { learner: user } = simulator.sample.users;
    simulator.tamperWithNext({
      claims: { iss: 'https://other.example', sub: undefined },
      header: { typ: 'x' },
    });
    const token = (await simulator.driveLaunch({ user, link })).fields.id_token ?? '';
    const { payload } = await jwtVerify(token, createRemoteJWKSet(new URL(simulator.addresses.jwks)));
    expect(payload.iss).toBe('https://other.example');
    expect(payload).not.toHaveProperty('sub');
    expect(decodeProtectedHeader(token).typ).toBe('x');

    const next = decodeJwt((await simulator.driveLaunch({ user, link })).fields.id_token ?? '');
    expect(next).toMatchObject({ iss: simulator.issuer, sub: user.id });
  });
});
