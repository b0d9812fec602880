import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mayChooseLessons, untrackedRole } from '../../api/lti/roles.ts';
import { claim } from '../../shared/lti/claims.ts';
import {
  addUnknownDeployment,
  changePlatform,
  createPlatform,
  findPlatform,
} from '../../shared/models/lti-platform.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { changeOrganization } from '../../shared/models/organization.ts';
import { publishLesson } from '../player/player-lessons.ts';
import { startApiProcess } from '../support/api-process.ts';
import { buildOrganization } from '../support/factories.ts';
import { waitFor } from '../support/wait-for.ts';
import { answerOf, claimsOf, expectRejection, tokenOf, useLaunchLab } from './support/launch-lab.ts';

const lab = useLaunchLab();

test('a learner gets into the lesson with a launch token that is valid for 8 hours', async () => {
  const { simulator, platform, version, address } = lab;
  const { learner } = simulator.sample.users;
  const answer = await lab.launch();
  expect(answer.text).toBe('');
  expect(answer.status).toBe(303);
  expect(answer.headers.get('location')).toMatch(
    new RegExp(`^${address}/embed/${version.lessonId}\\?token=[\\w.-]+$`),
  );
  const { issuedAt, expiresAt, ...claims } = claimsOf(answer);
  expect(expiresAt - issuedAt).toBe(8 * 3600);
  expect(claims).toStrictEqual({
    kind: 'launch',
    organizationId: platform.organizationId,
    lessonId: version.lessonId,
    versionId: null,
    platformId: platform._id,
    ltiUserId: learner.id,
    contextId: simulator.sample.course.id,
    locale: 'en-GB',
    returnUrl: simulator.urls.launchReturn,
    platformOrigins: [new URL(simulator.issuer).origin],
    sendsGrade: true,
  });
});

test('a login works by GET and POST with only the parameters that the standard requires', async () => {
  const optional = { client_id: undefined, lti_deployment_id: undefined };
  for (const method of ['GET', 'POST'] as const) {
    expect((await lab.launch({ method, login: optional })).status).toBe(303);
    const empty = { client_id: '', lti_deployment_id: '', lti_storage_target: '' };
    expect((await lab.launch({ method, login: empty })).status).toBe(303);
  }
});

test("the login redirects to the platform with its parameters and keeps the platform's query", async () => {
  const { simulator, address } = lab;
  const authUrl = `${simulator.urls.authorization}?tenant=a%20b&scope=none`;
  const { tool } = await lab.register(address, { authUrl });
  const login = { login_hint: 'a&b=ü', lti_message_hint: '{"a":1}' };
  const answer = await lab.sendLogin({ link: lab.addLink({ tool }), target: 'window', login });
  expect(answer.status).toBe(302);
  const next = new URL(answer.headers.get('location') ?? '');
  expect(next.origin + next.pathname).toBe(simulator.urls.authorization);
  const { state, nonce, ...parameters } = Object.fromEntries(next.searchParams);
  expect(parameters).toStrictEqual({
    tenant: 'a b',
    scope: 'openid',
    response_type: 'id_token',
    response_mode: 'form_post',
    prompt: 'none',
    client_id: tool.clientId,
    redirect_uri: `${address}/lti/launch`,
    ...login,
  });
  expect(state).toMatch(/^[\w-]{112}$/);
  expect(nonce).toMatch(/^[\w-]{43}$/);
});

test("the login cookie works in the platform's frames, only over HTTPS, and is removed by the launch", async () => {
  const login = await lab.sendLogin({ target: 'window' });
  const attributes = 'HttpOnly; Secure; SameSite=None; Partitioned';
  expect(login.headers.getSetCookie()).toEqual([
    expect.stringMatching(
      new RegExp(`^lectern_lti_[0-9a-f]{16}=[\\w-]{43}; Path=/lti; Max-Age=600; ${attributes}$`),
    ),
  ]);
  expect((await lab.launch()).headers.getSetCookie()).toEqual([
    expect.stringMatching(new RegExp(`^lectern_lti_[0-9a-f]{16}=; Path=/lti; Max-Age=0; ${attributes}$`)),
  ]);
});

test('behind a proxy with a path prefix, URLs, redirects and cookies include the prefix', async () => {
  const publicUrl = 'https://school.example/lectern';
  const proxied = await lab.startApi({ PUBLIC_URL: publicUrl });
  const { tool } = await lab.register(proxied);
  const target = { target_link_uri: `${publicUrl}/lti/launch?lesson=1` };
  const link = lab.addLink({ tool });
  const tab = { link, target: 'window' } as const;
  const login = await lab.sendLogin({ ...tab, login: target });
  const next = new URL(login.headers.get('location') ?? '');
  expect(next.searchParams.get('redirect_uri')).toBe(`${publicUrl}/lti/launch`);
  expect(login.headers.getSetCookie()[0]).toContain('; Path=/lectern/lti;');
  const framed = await lab.sendLogin({ link, login: target });
  expect(framed.headers.get('location')).toMatch(/^\/lectern\/lti\/login\/checked\?iss=/);
  expect(framed.headers.getSetCookie()[0]).toContain('; Path=/lectern/lti/login;');
  for (const other of ['https://school.example/', 'https://school.example/lecternx/', proxied]) {
    const rejected = await lab.sendLogin({ ...tab, login: { target_link_uri: other } });
    expectRejection(await answerOf(rejected), 400, 'foreign_target');
  }
});

describe('a user is recorded as a learner or not:', () => {
  const context = 'http://purl.imsglobal.org/vocab/lis/v2/membership';
  const institution = 'http://purl.imsglobal.org/vocab/lis/v2/institution/person';
  const system = 'http://purl.imsglobal.org/vocab/lis/v2/system/person';
  test.each<[as: 'learner' | 'preview' | 'observer', roles: string[]]>([
    ['learner', [`${context}#Learner`]],
    ['learner', [`${context}#Instructor`, `${context}#Learner`]],
    ['learner', [`${context}#Member`]],
    ['learner', []],
    ['preview', [`${context}#ContentDeveloper`]],
    ['observer', [`${context}#Mentor`]],
    ['observer', [`${institution}#Observer`]],
    ['learner', [`${context}#Mentor`, `${context}#Learner`]],
    ['preview', ['Instructor']],
    ['preview', [`${system}#SysAdmin`]],
  ])('a %s, for %j', (as, roles) => {
    expect(untrackedRole(roles) ?? 'learner').toBe(as);
    if (as === 'observer') expect(mayChooseLessons(roles)).toBe(false);
    if (as === 'preview') expect(mayChooseLessons(roles)).toBe(true);
  });

  test.each<[as: 'learner' | 'preview' | 'observer', roles: unknown]>([
    ['observer', `${context}#Mentor`],
    ['preview', [`${context}#Instructor`, null, 7]],
    ['preview', `${context}#Instructor`],
    ['learner', null],
  ])('a %s, launched with %j, gets scores in the gradebook if recorded', async (as, roles) => {
    const { harness, simulator } = lab;
    const user = simulator.addUser({ roles: [] });
    const tampering = { claims: { [claim.roles]: roles } };
    const link = lab.addLink({ lineItem: { label: 'A lesson', scoreMaximum: 10 } });
    const tracked = as === 'learner';
    expect(claimsOf(await lab.launch({ user, link, tampering })).untracked).toBe(tracked ? undefined : as);
    const scores = await harness.db.ltiScores.countDocuments({ ltiUserId: user.id });
    expect(scores).toBe(tracked ? 1 : 0);
  });

  test('an anonymous user plays untracked', async () => {
    const { anonymous } = lab.simulator.sample.users;
    const launches = [
      lab.launch({ user: anonymous }),
      lab.launch({ tampering: { claims: { sub: null } } }),
      lab.launch({ tampering: { claims: { sub: '' } } }),
    ];
    for (const answer of await Promise.all(launches)) {
      expect(claimsOf(answer)).toMatchObject({ ltiUserId: '', untracked: 'anonymous' });
    }
  });
});

test.each([
  ['de_AT', 'de-AT'],
  ['EN', 'en'],
  ['', undefined],
  ['a language', undefined],
])('the locale "%s" becomes %s', async (given, locale) => {
  expect(claimsOf(await lab.launch({ locale: given })).locale).toBe(locale);
});

test('ids that are integers count as their texts, and those that JavaScript cannot distinguish are rejected', async () => {
  const { tool } = await lab.register(lab.address, { clientId: '10000000000007', deploymentIds: ['7'] });
  const { simulator } = lab;
  // The platform knows the tool by the number, too.
  const numeric = simulator.addTool({ ...tool, clientId: '10000000000007', deploymentIds: ['7'] });
  const link = lab.addLink({ tool: numeric });
  const launch = (claims: Record<string, unknown>) => lab.launch({ link, tampering: { claims } });
  const numbers = {
    aud: 10_000_000_000_007,
    azp: 10_000_000_000_007,
    sub: 5,
    [claim.deploymentId]: 7,
    [claim.context]: { id: 12 },
    [claim.resourceLink]: { id: 34 },
  };
  const answer = await launch(numbers);
  expect({ status: answer.status, text: answer.text }).toEqual({ status: 303, text: '' });
  expect(claimsOf(answer)).toMatchObject({ ltiUserId: '5', contextId: '12' });
  const stored = await lab.harness.db.ltiResourceLinks.findOne({ resourceLinkId: '34', deploymentId: '7' });
  expect(stored?.contextId).toBe('12');
  expect((await launch({ ...numbers, aud: [10_000_000_000_007] })).status).toBe(303);
  for (const [name, value] of [
    ['sub', 2 ** 53],
    ['sub', 1.5],
    ['sub', true],
    [claim.context, { id: 2 ** 60 }],
    [claim.resourceLink, { id: 0.5 }],
  ] as const) {
    expectRejection(await launch({ ...numbers, [name]: value }), 400, 'malformed_claims');
  }
  expectRejection(await launch({ ...numbers, aud: 10_000_000_000_008 }), 403, 'wrong_audience');
  expectRejection(await launch({ ...numbers, azp: 8 }), 403, 'wrong_authorized_party');
  expectRejection(await launch({ ...numbers, [claim.deploymentId]: 8 }), 403, 'unknown_deployment');
});

test('a launch of an unknown deployment is listed once for approval, if the platform signed it', async () => {
  const { db } = lab.harness;
  const { tool, platform } = await lab.register(lab.address);
  const link = lab.addLink({ tool });
  const from = (deployment: unknown, signature: 'platform' | 'another key' = 'platform') =>
    lab.launch({ link, tampering: { claims: { [claim.deploymentId]: deployment }, signature } });
  const listed = async () => (await findPlatform(db, platform._id))?.unknownDeployments;
  expectRejection(await from('forged', 'another key'), 403, 'bad_signature');
  for (const deployment of ['a', 'a', 8, 'x'.repeat(256), null, {}]) {
    expectRejection(await from(deployment), 403, 'unknown_deployment');
  }
  expect(await listed()).toEqual(['a', '8']);
  for (let n = 0; n < 20; n += 1) await addUnknownDeployment(db, platform, `more ${n}`);
  expect(await listed()).toEqual(Array.from({ length: 20 }, (_, n) => `more ${n}`));
  await addUnknownDeployment(db, platform, 'a');
  await changePlatform(db, platform._id, {}, ['a']);
  expect((await from('a')).status).toBe(303);
  expect(await listed()).not.toContain('a');
  await changePlatform(db, platform._id, { anyDeployment: true });
  expect((await from('any other')).status).toBe(303);
  expect(await listed()).toEqual([]);
  await changePlatform(db, platform._id, { anyDeployment: false });
  expectRejection(await from('any other'), 403, 'unknown_deployment');
});

test('while several platforms are one client, none gets a deployment that belongs to none of them', async () => {
  const { db } = lab.harness;
  const { platform, tool } = await lab.register(lab.address);
  await changePlatform(db, platform._id, { anyDeployment: true });
  const { organization } = await buildOrganization(lab.harness);
  const { _id, createdAt, unknownDeployments, ...fields } = platform;
  const school = { ...fields, organizationId: organization._id, deploymentIds: ['school'] };
  await createPlatform(db, school);
  const version = await publishLesson(lab.harness, organization);
  const link = lab.addLink({ tool, custom: { lesson_id: version.lessonId } });
  const tampering = { claims: { [claim.deploymentId]: 'school' } };
  expect(claimsOf(await lab.launch({ link, tampering })).organizationId).toBe(organization._id);
  const unknown = { claims: { [claim.deploymentId]: 'another school' } };
  expectRejection(await lab.launch({ link, tampering: unknown }), 403, 'unknown_deployment');
  expect([_id, createdAt, unknownDeployments]).toEqual([platform._id, expect.any(Date), []]);
});

test('a return URL adds at most its own origin to the policies of the pages', async () => {
  const { harness, organization, simulator } = lab;
  const { slug } = organization;
  const own = new URL(simulator.issuer).origin;
  const { course, users } = simulator.sample;
  const deepLink = (url: string) => ({ course, tool: lab.tool, settings: { deep_link_return_url: url } });
  const ancestors = async (location: string | null) =>
    /frame-ancestors ([^;]*)(.*)/
      .exec((await fetch(location ?? '')).headers.get('content-security-policy') ?? '')
      ?.slice(1);
  await changeOrganization(harness.db, { slug }, { allowedOrigins: ['https://school.example'] });
  try {
    const tried = ['https://*', 'https://a;b.example', 'https://a,b.example'];
    for (const url of [...tried, 'https://lms.example/return;a?b,*']) {
      const isSafe = url.startsWith('https://lms.example/');
      const expected = ['https://school.example', own, ...(isSafe ? ['https://lms.example'] : [])].join(' ');
      const tampering = { claims: { [claim.launchPresentation]: { return_url: url } } };
      const lesson = await lab.launch({ tampering });
      expect({ url, page: await ancestors(lesson.headers.get('location')) }).toEqual({
        ...{ url, page: [expected, ''] },
      });
      const selection = await lab.launch({ user: users.teacher, deepLink: deepLink(url) });
      const [sources] = (await ancestors(selection.headers.get('location'))) ?? [];
      expect({ url, sources }).toEqual({ url, sources: expected });
    }
  } finally {
    await changeOrganization(harness.db, { slug }, { allowedOrigins: [] });
  }
});

test('with one issuer and client for several platforms, the deployment identifies the platform', async () => {
  const { harness, simulator, address } = lab;
  const { tool } = await lab.register(address);
  const { organization: other } = await buildOrganization(harness);
  const theirs = await publishLesson(harness, other);
  const deploymentIds = ['of the other'];
  const shared = await createPlatform(harness.db, {
    ...(await harness.db.ltiPlatforms
      .findOne({ clientId: tool.clientId }, { _id: 0, createdAt: 0 })
      .lean<LtiPlatform>()
      .orFail()),
    organizationId: other._id,
    deploymentIds,
  });
  const custom = { lesson_id: theirs.lessonId };
  const link = simulator.addLink({
    course: simulator.sample.course,
    tool,
    deploymentId: 'of the other',
    custom,
  });
  expect(claimsOf(await lab.launch({ link }))).toMatchObject({
    organizationId: other._id,
    platformId: shared._id,
    lessonId: theirs.lessonId,
  });
  const ours = lab.addLink({ tool, custom });
  expectRejection(await lab.launch({ link: ours }), 404, 'lesson_not_found');
});

test('16 concurrent launches by different learners from one IP address succeed, each with its own identity', async () => {
  const { simulator } = lab;
  const link = lab.addLink({ lineItem: { label: 'A lesson', scoreMaximum: 10 } });
  const users = Array.from({ length: 16 }, () => simulator.addUser());
  const driven = await Promise.all(users.map((user) => lab.drive({ user, link })));
  const answers = await Promise.all(
    driven.map(async (launch) => answerOf(await simulator.submitLaunch(launch))),
  );
  expect(answers.map((answer) => claimsOf(answer).ltiUserId)).toEqual(users.map(({ id }) => id));

  const scores = await lab.harness.db.ltiScores
    .distinct('ltiUserId', { ltiUserId: users.map(({ id }) => id) })
    .exec();
  expect(scores.toSorted()).toEqual(users.map(({ id }) => id).toSorted());
  expect(await lab.harness.db.ltiResourceLinks.countDocuments({ resourceLinkId: link.id })).toBe(1);
});

test('the log has each launch with its platform and problem, but no secrets and no identity', async () => {
  const { harness, simulator } = lab;
  const api = await startApiProcess(harness, {
    LOG_LEVEL: 'debug',
    LECTERN_ALLOWED_PRIVATE_HOSTS: new URL(simulator.issuer).host,
  });
  const { tool, platform } = await lab.register(api.url);
  const link = lab.addLink({ tool });
  const { learner: user } = simulator.sample.users;
  const launches = [
    await lab.drive({ link }),
    await lab.drive({ link, tampering: { claims: { [claim.deploymentId]: 'another' } } }),
  ];
  const answers = [];
  for (const launch of launches) answers.push(await simulator.submitLaunch(launch));
  const unknown = { iss: 'https://unknown.example' };
  await lab.sendLogin({ link, target: 'window', login: unknown });

  const known = { platform: platform._id, organization: platform.organizationId };
  await waitFor('the last line', () => api.output().includes('unknown.example'));
  expect(api.log().filter(({ msg }) => msg.startsWith('launch'))).toMatchObject([
    { msg: 'launch', outcome: 'lesson', ...known },
    { msg: 'launch rejected', code: 'unknown_deployment', deployment: 'another', ...known },
    { msg: 'launch rejected', code: 'unknown_platform', issuer: 'https://unknown.example' },
  ]);
  await api.end();
  const secrets = [
    ...launches.flatMap(({ fields, cookie }) => [fields.id_token, fields.state, cookie.split('=')[1]]),
    ...answers.map((answer) => tokenOf(answer)).filter((token) => token !== undefined),
    ...[user.id, user.loginHint, user.name, user.email],
  ];
  expect(secrets.every((secret) => secret !== undefined && secret !== '')).toBe(true);
  for (const secret of secrets) expect(api.output()).not.toContain(secret);
});

const kB = 1024;

/** Sends the beginning of a launch; `received` grows by the response. */
function beginLaunch(sent: number): { socket: Socket; received: string } {
  const { hostname, port } = new URL(lab.address);
  const socket = connect({ host: hostname, port: Number(port) });
  onTestFinished(() => void socket.destroy());
  const begun = { socket, received: '' };
  socket.on('data', (chunk) => (begun.received += chunk.toString('latin1')));
  // The server may close a connection whose body it rejects.
  socket.on('error', () => undefined);
  socket.write(
    [
      'POST /lti/launch HTTP/1.1',
      `Host: ${hostname}`,
      'Content-Type: application/x-www-form-urlencoded',
      `Content-Length: ${32 * kB}`,
      '',
      `id_token=${'x'.repeat(sent)}`,
    ].join('\r\n'),
  );
  return begun;
}

test('of unfinished launches from one IP address, 32 wait for their bodies; the next gets 429 after two seconds', async () => {
  const begun = Array.from({ length: 33 }, () => beginLaunch(kB));
  const rejected = () => begun.filter(({ received }) => received.startsWith('HTTP/1.1 429 '));
  await waitFor('a rejected launch', () => rejected().length > 0, 20_000);
  expect(rejected()).toHaveLength(1);
  expect(rejected()[0]?.received).toContain('\r\nRetry-After: 2\r\n');

  for (const { socket } of begun) socket.destroy();
  await waitFor('a place', async () => (await lab.launch()).status === 303);
});
