import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
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
import { printFigure } from './measure.ts';
import { hasPython, installFromPyPI } from './python-environment.ts';
import type { PythonEnvironment } from './python-environment.ts';
import { temporaryFolder } from '../support/folders.ts';

/** The release that the figures are of; another one may check other things. */
const release = 'schemathesis==4.32.5';

interface SchemathesisRun {
  /** How it ended: 0 without a failure. */
  code: number | null;
  output: string;
  /** Requests that it thought of; those that repeat one of them are left out. */
  cases: number;
}

/** Runs it against an API's own document. @param config the text of its configuration file. */
async function runSchemathesis(
  { program }: Pick<PythonEnvironment, 'program'>,
  api: string,
  config: string,
  options: string[],
): Promise<SchemathesisRun> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'schemathesis.toml'), config);
  // It finds the configuration in its folder, and would keep what it learns there.
  const child = spawn(program('schemathesis'), ['run', `${api}/openapi.json`, '--no-color', ...options], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (output += text.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output, cases: Number(/([\d,]+) generated/.exec(output)?.[1]?.replaceAll(',', '')) };
}

/** LECTERN_SCHEMATHESIS_SEED changes the requests. */
const seed = Number(process.env.LECTERN_SCHEMATHESIS_SEED ?? 20261121);
/** Requests per operation, phase and mode (valid or invalid). */
const examples = Number(process.env.LECTERN_SCHEMATHESIS_EXAMPLES ?? 100);

const ready = await hasPython();
const demoLesson = resolve(import.meta.dirname, '../../demo/lesson');

let api: string;
let tenant: Tenant;
let schemathesis: PythonEnvironment;

/** Builds a tenant with the objects in the document's examples: the demo lesson, a learner, and a user. */
async function buildDocumentedTenant(harness: Harness): Promise<Tenant> {
  const built = await buildTenant(harness, api);
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
  for (const token of [tokenOf(built, ids), launchTokenOf(built, ids)]) await begin(api, ids, token);
  return { ...built, version, ids, password: example.password };
}

/** The caller of a run, and the share of existing ids. */
interface Asking {
  /** An embed token, or the token of an LTI launch. */
  token: string;
  /** Whether endpoints that accept both get API credentials, or else the session. */
  credentials: boolean;
  /** Values of parameters for all requests; schemathesis generates the others. */
  parameters: Record<string, string>;
  /** The share of bodies with existing ids, from 0 to 1. */
  naming: number;
}

/**
 * Returns the configuration of schemathesis: what it cannot know from the document, such as credentials, existing ids
 * and special rules.
 */
function configOf({ token, credentials, parameters, naming }: Asking, expendableCookie: string): string {
  const { versionId, widgetId, lessonId, email } = tenant.ids;
  const inBodies: Record<string, (string | number)[]> = {
    'body.lessonId': [lessonId],
    'body.versionId': [versionId],
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
    // Logging out ends the session, so it gets another one.
    '[[operations]]',
    ...toToml({ 'include-operation-id': 'logOut', headers: { Cookie: expendableCookie } }),
    // No schema can describe whether a write fits the version and the position.
    '[[operations]]',
    ...toToml({
      'include-operation-id': 'writePlayerSession',
      checks: { positive_data_acceptance: { 'expected-statuses': ['2xx', 401, 403, 404, 409, 422] } },
    }),
    // The oEmbed specification requires 501 for an unsupported format.
    '[[operations]]',
    ...toToml({
      'include-operation-id': 'getOembed',
      checks: { not_a_server_error: { 'expected-statuses': ['2xx', '3xx', '4xx', 501] } },
    }),
    // No schema can describe whether a platform is registered.
    ...['beginLogin', 'postLogin', 'goOnWithLogin', 'postCheckedLogin', 'launch', 'takeSelection'].flatMap(
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
    // A missing token is a fault of the query (400), where schemathesis expects 401.
    '[[operations]]',
    ...toToml({ 'include-tag': 'Player', checks: { ignored_auth: { enabled: false } } }),
  ].join('\n');
}

/**
 * Converts an object to lines such as `"auth"."openapi"."token"."api_key" = "a.b.c"`; lists and texts are as in JSON.
 */
function toToml(value: object, keys: string[] = []): string[] {
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    const path = [...keys, JSON.stringify(key)];
    if (typeof inner === 'object' && inner !== null && !Array.isArray(inner)) return toToml(inner, path);
    return [`${path.join('.')} = ${JSON.stringify(inner)}`];
  });
}

/** Returns parameters with which each URL finds something. */
async function namingParameters(): Promise<Record<string, string>> {
  const { lessonId, versionId, learnerId, ltiUserId, platformId, contextId, mediaId, widgetType } =
    tenant.ids;
  const media = `${api}/api/public/lessons/${lessonId}/media/${mediaId}`;
  const led = await ask(`${media}?token=${tokenOf(tenant, tenant.ids)}`);
  const asset = new URL(led.headers.get('location') ?? '', api);
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

/** Checks an API against its own document, with all phases and checks of schemathesis. */
async function expectConformance(name: string, asking: Asking, options: string[] = []): Promise<void> {
  const { password, ids } = tenant;
  const expendable = cookieOf(await postSession(api, { email: ids.email, password }));
  const started = performance.now();
  const { code, output, cases } = await runSchemathesis(schemathesis, api, configOf(asking, expendable), [
    // All checks are on by default. Naming them here would override the configuration.
    ...['--phases', 'examples,coverage,fuzzing,stateful', '--continue-on-failure'],
    ...['--seed', String(seed), '--max-examples', String(examples), '--generation-database', 'none'],
    ...options,
  ]);
  expect(code, output).toBe(0);
  expect(cases).toBeGreaterThan(0);
  printFigure(`schemathesis, ${name}`, { seed, cases, seconds: (performance.now() - started) / 1000 });
}

describe.runIf(ready)('the API conforms to its document (needs python3 with venv)', () => {
  let harness: Harness;

  beforeAll(async () => {
    harness = await startHarness({
      RATE_LIMIT_PER_KEY: '0',
      RATE_LIMIT_PER_ADDRESS: '0',
      LOGIN_TRIES: '1000',
    });
    api = await harness.startApi();
    await harness.startWorker();
    tenant = await buildDocumentedTenant(harness);
    schemathesis = await installFromPyPI(release);
  });
  afterAll(async () => {
    await schemathesis.remove();
    await harness.close();
  });

  test('with existing ids', async () => {
    const token = tokenOf(tenant, tenant.ids);
    const parameters = await namingParameters();
    await expectConformance('ids that exist', { token, credentials: true, parameters, naming: 1 });
  });

  test('with any ids', async () => {
    const token = launchTokenOf(tenant, tenant.ids);
    await expectConformance('any ids', { token, credentials: true, parameters: {}, naming: 0.5 });
  });

  test('with a session, and the token of a launch', async () => {
    const token = launchTokenOf(tenant, tenant.ids);
    const parameters = await namingParameters();
    const asking = { token, credentials: false, parameters, naming: 1 };
    const tags = ['Lessons', 'Users', 'Player'].flatMap((tag) => ['--include-tag', tag]);
    await expectConformance('a session and a launch', asking, tags);
  });
});
