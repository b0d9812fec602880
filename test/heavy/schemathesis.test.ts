import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as example from '../../api/http/examples.ts';
import { createUser } from '../../shared/models/user.ts';
import { hashPassword } from '../../shared/platform/passwords.ts';
import { ask } from '../support/answers.ts';
import { begin, buildTenant, launchTokenOf, tokenOf } from '../support/tenants.ts';
import type { Tenant } from '../support/tenants.ts';
import { cookieOf, postSession } from '../accounts/users.ts';
import { buildVersion } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import type { Harness } from '../support/harness.ts';
import { printFigure } from './figures.ts';
import { hasPython, installSchemathesis, runSchemathesis } from './schemathesis.ts';
import type { Schemathesis } from './schemathesis.ts';

/** LECTERN_SCHEMATHESIS_SEED tries other requests. */
const seed = Number(process.env.LECTERN_SCHEMATHESIS_SEED ?? 20261121);
/** For an operation, a phase and a mode (as documented, or not). */
const examples = Number(process.env.LECTERN_SCHEMATHESIS_EXAMPLES ?? 100);

const ready = await hasPython();
const demoLesson = resolve(import.meta.dirname, '../../demo/lesson');

let address: string;
let tenant: Tenant;
let schemathesis: Schemathesis;

/** A tenant that has what the document's examples name: the demo lesson, a learner, and a user who can log in. */
async function buildDocumentedTenant(harness: Harness): Promise<Tenant> {
  const built = await buildTenant(harness, address);
  const { organization } = built;
  const version = await buildVersion(harness, organization, demoLesson);
  const lesson = { lessonId: version.lessonId, versionId: version._id };
  const { email } = example.userSession.user;
  const passwordHash = await hashPassword(example.password);
  await createUser(harness.db, { organizationId: organization._id, email, role: 'author', passwordHash });
  const ids = {
    ...built.ids,
    ...lesson,
    claimedLessonId: lesson.lessonId,
    claimedVersionId: lesson.versionId,
    mediaId: example.mediaId,
    widgetType: example.item.widgetType,
    widgetId: example.item.widgetId,
    learnerId: example.learnerId,
    email,
  };
  for (const token of [tokenOf(built, ids), launchTokenOf(built, ids)]) await begin(address, ids, token);
  return { ...built, version, ids, password: example.password };
}

/** Who asks in a run, and for what. */
interface Asking {
  /** Of a learner: an embed token, or that of an LTI launch. */
  token: string;
  /** Where an address takes both, API credentials are sent; without them the session. */
  credentials: boolean;
  /** Values of parameters that every request has; all others are made up, as the document has it. */
  parameters: Record<string, string>;
  /** How many bodies of requests name something that exists, from 0 to 1. */
  naming: number;
}

/** What schemathesis cannot know from the document: credentials, ids that name something, and two rules. */
function configOf({ token, credentials, parameters, naming }: Asking, expendableCookie: string): string {
  const { versionId, widgetId, lessonId, email } = tenant.ids;
  const inBodies: Record<string, (string | number)[]> = {
    'body.lessonId': [lessonId],
    'body.versionId': [versionId],
    'body.revision': [0, 1, 2, 3, 4, 5],
    'body.currentSectionIndex': [0, 1, 2],
    'body.currentStepIndex': [0, 1, 2],
    'body.items[*].widgetId': [widgetId],
    'body.email': [email],
    'body.password': [tenant.password, 'another password'],
  };
  const names = Object.keys(inBodies);
  const [cookie = '', signature = ''] = tenant.cookie.split('; ');
  const session = `${cookie.slice(cookie.indexOf('=') + 1)}; ${signature}`;
  const bearer = tenant.authorization.slice('Bearer '.length);
  return [
    ...toToml({
      auth: {
        openapi: {
          ...(credentials && { credentials: { bearer } }),
          token: { api_key: token },
          session: { api_key: session },
        },
      },
      dictionaries: Object.fromEntries(names.map((name, index) => [`d${index}`, { values: inBodies[name] }])),
      parameters: {
        ...parameters,
        ...Object.fromEntries(
          names.map((name, index) => [name, { dictionary: `d${index}`, probability: naming }]),
        ),
      },
    }),
    // Whoever logs out has no session for the requests after it.
    '[[operations]]',
    ...toToml({ 'include-operation-id': 'logOut', headers: { Cookie: expendableCookie } }),
    // Whether a write fits the version that is played, and the place in it, no schema can say.
    '[[operations]]',
    ...toToml({
      'include-operation-id': 'writePlayerSession',
      checks: { positive_data_acceptance: { 'expected-statuses': ['2xx', 401, 403, 404, 409, 422] } },
    }),
    // What the oEmbed specification has for a format that is not there.
    '[[operations]]',
    ...toToml({
      'include-operation-id': 'getOembed',
      checks: { not_a_server_error: { 'expected-statuses': ['2xx', '3xx', '4xx', 501] } },
    }),
    // Whether a form is of a platform that is registered, and answers a login, no schema can say.
    ...['beginLogin', 'postLogin', 'goOnWithLogin', 'postCheckedLogin', 'launch', 'takeChoice'].flatMap(
      (name) => [
        '[[operations]]',
        ...toToml({
          'include-operation-id': name,
          checks: { positive_data_acceptance: { 'expected-statuses': ['2xx', '3xx', 400, 403, 404, 422] } },
        }),
      ],
    ),
    '[[operations]]',
    ...toToml({
      'include-operation-id': 'register',
      checks: { negative_data_rejection: { 'expected-statuses': [400, 403, 404, 431] } },
    }),
    // A build without waiting clients is cancelled; its status remains available.
    '[[operations]]',
    ...toToml({ 'include-operation-id': 'exportStatus', checks: { use_after_free: { enabled: false } } }),
    // A token that is missing is a fault of the query, 400; schemathesis would have 401, as for one that is wrong.
    '[[operations]]',
    ...toToml({ 'include-tag': 'Player', checks: { ignored_auth: { enabled: false } } }),
  ].join('\n');
}

/** Lines such as `"auth"."openapi"."token"."api_key" = "a.b.c"`; lists and texts are the same as in JSON. */
function toToml(value: object, keys: string[] = []): string[] {
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const path = [...keys, JSON.stringify(key)];
    if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) return toToml(inner, path);
    return [`${path.join('.')} = ${JSON.stringify(inner)}`];
  });
}

/** Parameters by which each address finds something. */
async function namingParameters(): Promise<Record<string, string>> {
  const { lessonId, versionId, learnerId, ltiUserId, platformId, contextId, mediaId, widgetType } =
    tenant.ids;
  const media = `${address}/api/public/lessons/${lessonId}/media/${mediaId}`;
  const led = await ask(`${media}?token=${tokenOf(tenant, tenant.ids)}`);
  const asset = new URL(led.headers.get('location') ?? '', address);
  const [, , , area = '', sha256 = '', size = '', type = '', subtype = '', fileName = ''] =
    asset.pathname.split('/');
  const inPath = { lessonId, versionId, learnerId, ltiUserId, mediaId, file: `${widgetType}.js` };
  const ofAsset = { area, sha256, size, type, subtype, fileName };
  const inQuery = { platformId, contextId, versionId, ...Object.fromEntries(asset.searchParams) };
  return Object.fromEntries([
    ...Object.entries({ ...inPath, ...ofAsset }).map(([name, value]) => [`path.${name}`, value]),
    ...Object.entries(inQuery).map(([name, value]) => [`query.${name}`, value]),
  ]) as Record<string, string>;
}

/** Checks an API by its own document, with all that schemathesis knows to try and to check. */
async function expectConformance(name: string, asking: Asking, options: string[] = []): Promise<void> {
  const { password, ids } = tenant;
  const expendable = cookieOf(await postSession(address, { email: ids.email, password }));
  const started = performance.now();
  const { code, output, cases } = await runSchemathesis(schemathesis, address, configOf(asking, expendable), [
    // All checks are on by themselves. Named here, they would be on where the configuration turns one off.
    ...['--phases', 'examples,coverage,fuzzing,stateful', '--continue-on-failure'],
    ...['--seed', String(seed), '--max-examples', String(examples), '--generation-database', 'none'],
    ...options,
  ]);
  expect(code, output).toBe(0);
  expect(cases).toBeGreaterThan(0);
  printFigure(`schemathesis, ${name}`, { seed, cases, seconds: (performance.now() - started) / 1000 });
}

describe.runIf(ready)('the API answers as its document has it (needs python3 with venv)', () => {
  let harness: Harness;

  beforeAll(async () => {
    harness = await startHarness({
      RATE_LIMIT_PER_KEY: '0',
      RATE_LIMIT_PER_ADDRESS: '0',
      LOGIN_TRIES: '1000',
    });
    address = await harness.startApi();
    await harness.startWorker();
    tenant = await buildDocumentedTenant(harness);
    schemathesis = await installSchemathesis();
  });
  afterAll(async () => {
    await schemathesis.remove();
    await harness.close();
  });

  test('what is asked with ids that exist', async () => {
    const token = tokenOf(tenant, tenant.ids);
    const parameters = await namingParameters();
    await expectConformance('ids that exist', { token, credentials: true, parameters, naming: 1 });
  });

  test('what is asked with any ids', async () => {
    const token = launchTokenOf(tenant, tenant.ids);
    await expectConformance('any ids', { token, credentials: true, parameters: {}, naming: 0.5 });
  });

  test('what a session opens, and the token of a launch', async () => {
    const token = launchTokenOf(tenant, tenant.ids);
    const parameters = await namingParameters();
    const asking = { token, credentials: false, parameters, naming: 1 };
    const tags = ['Lessons', 'Users', 'Player'].flatMap((tag) => ['--include-tag', tag]);
    await expectConformance('a session and a launch', asking, tags);
  });
});
