import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { verifyIdToken } from '../../api/lti/verify-token.ts';
import { startProcesses } from '../../cli/installation/processes.ts';
import { freePort } from '../../shared/embedded/child-process.ts';
import { createPlatform } from '../../shared/models/lti-platform.ts';
import { signLaunchToken } from '../../shared/tokens/player-tokens.ts';
import { writeSampleLesson } from '../api/sample.ts';
import { prepareInstallation } from '../installation.ts';
import { median } from '../rounds.ts';
import { startPlatform } from './platform.ts';

/*
 * Measures the cost of launches in a frame: logins per second, each with a redirect to test cookies, and launches per
 * second, through one API process, with its processor time. The baseline is the cryptography alone: the check of the
 * id_token and the signature of the launch token. Clients, the API, MongoDB and Redis share the machine. The platform
 * signs between the measured parts.
 */

const rounds = Number(process.argv[3] ?? 5);
const launches = Number(process.argv[4] ?? 1000);
const connections = 32;

const platform = await startPlatform();
const metricsPort = await freePort();
const installation = await prepareInstallation({
  METRICS_PORT: String(metricsPort),
  LECTERN_ALLOWED_PRIVATE_HOSTS: new URL(platform.issuer).host,
});
const { settings, config, servers, db, organization, secrets } = installation;
await writeSampleLesson(join(installation.folder, 'lesson'), { steps: 4, wordsPerStep: 40 });
const { lessonId } = await installation.publish(join(installation.folder, 'lesson'));
const { issuer, clientId, deploymentId } = platform;
await createPlatform(db, {
  organizationId: organization._id,
  issuer,
  clientId,
  deploymentIds: [deploymentId],
  authUrl: `${issuer}/auth`,
  tokenUrl: `${issuer}/token`,
  jwksUrl: `${issuer}/jwks`,
  tokenAudience: null,
  name: null,
  status: 'active',
});
const { url: baseUrl, stop } = await startProcesses(config, servers, { workers: 0, settings });
const agent = new Agent({ keepAlive: true, maxSockets: connections });
const targetLinkUri = `${baseUrl}/lti/launch`;

/** Seconds for all launches: elapsed, and of the processor. */
interface Cost {
  clock: number;
  processor: number;
}

interface Login {
  state: string;
  nonce: string;
  cookie: string;
}

console.log(
  `${launches} launches at ${connections} connections, Node ${process.version}, medians of ${rounds} rounds`,
);
const costs: Record<'login' | 'launch' | 'cryptography', Cost[]> = {
  login: [],
  launch: [],
  cryptography: [],
};
for (let round = 0; round <= rounds; round += 1) {
  const [logins, login] = await measured(processorOfApi, logIn);
  const tokens = await signAll(logins);
  const [, launch] = await measured(processorOfApi, async (learner) => {
    const { state, cookie } = logins[learner] ?? { state: '', cookie: '' };
    const body = new URLSearchParams({ state, id_token: tokens[learner] ?? '' });
    const { status } = await send('/lti/launch', { cookie }, body.toString());
    if (status !== 303) throw new Error(`a launch returned ${status}`);
  });
  const [, cryptography] = await measured(ownProcessor, (learner) =>
    checkAndSign(tokens[learner] ?? '', logins[learner]?.nonce ?? ''),
  );
  // The first round warms up.
  if (round === 0) continue;
  costs.login.push(login);
  costs.launch.push(launch);
  costs.cryptography.push(cryptography);
}
report();
agent.destroy();
await stop();
platform.close();
await installation.remove();

/** Runs `work` for each learner, with limited concurrency. */
async function forAll<T>(work: (learner: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const client = async () => {
    for (let learner = next++; learner < launches; learner = next++) results[learner] = await work(learner);
  };
  await Promise.all(Array.from({ length: connections }, client));
  return results;
}

async function measured<T>(
  processor: () => Promise<number>,
  work: (learner: number) => Promise<T>,
): Promise<[T[], Cost]> {
  const before = await processor();
  const started = performance.now();
  const results = await forAll(work);
  const clock = (performance.now() - started) / 1000;
  return [results, { clock, processor: (await processor()) - before }];
}

async function logIn(learner: number): Promise<Login> {
  const query = new URLSearchParams({
    iss: issuer,
    client_id: clientId,
    lti_deployment_id: deploymentId,
    login_hint: `learner-${learner}`,
    lti_message_hint: randomUUID(),
    target_link_uri: targetLinkUri,
  });
  const asked = await send(`/lti/login?${query.toString()}`, { 'sec-fetch-dest': 'iframe' });
  if (asked.status !== 307) throw new Error(`a login returned ${asked.status}`);
  const [shown = ''] = (asked.headers['set-cookie']?.[0] ?? '').split(';');
  const { status, headers } = await send(asked.headers.location ?? '', { cookie: shown });
  if (status !== 302) throw new Error(`a login with its cookie returned ${status}`);
  const { searchParams } = new URL(headers.location ?? '');
  const [cookie = ''] = (headers['set-cookie']?.[0] ?? '').split(';');
  return { state: searchParams.get('state') ?? '', nonce: searchParams.get('nonce') ?? '', cookie };
}

function signAll(logins: Login[]): Promise<string[]> {
  return forAll((learner) =>
    platform.sign(learner, logins[learner]?.nonce ?? '', { lessonId, targetLinkUri }),
  );
}

async function checkAndSign(token: string, nonce: string): Promise<void> {
  const findKey = () => Promise.resolve(platform.publicKey);
  const { sub = '' } = await verifyIdToken(token, { issuer, clientId, nonce, findKey });
  const launch = { organizationId: organization._id, lessonId, versionId: null, platformId: issuer };
  const shown = { contextId: 'course', locale: 'en', returnUrl: issuer, platformOrigins: [issuer] };
  signLaunchToken(secrets.signing, { ...launch, ...shown, ltiUserId: sub }, 8 * 3600);
}

function send(
  path: string,
  headers: Record<string, string> = {},
  form?: string,
): Promise<{ status: number; headers: IncomingHttpHeaders }> {
  const type = form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' };
  const method = form === undefined ? 'GET' : 'POST';
  return new Promise((resolve, reject) => {
    const sent = request(
      `${baseUrl}${path}`,
      { agent, method, headers: { ...headers, ...type } },
      (answer) => {
        answer.resume().on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers }));
      },
    );
    sent.on('error', reject).end(form);
  });
}

/** Returns the processor time of the API so far in seconds, including its thread pool. */
async function processorOfApi(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1]);
}

function ownProcessor(): Promise<number> {
  const { user, system } = process.cpuUsage();
  return Promise.resolve((user + system) / 1e6);
}

function report(): void {
  const of = (name: keyof typeof costs, kind: keyof Cost) => median(costs[name].map((cost) => cost[kind]));
  const perSecond = (seconds: number) => `${(launches / seconds).toFixed(0).padStart(6)} per second`;
  const perLaunch = (seconds: number) => `${((seconds / launches) * 1000).toFixed(3)} ms of processor time`;
  const rows: [string, number, number][] = [
    ['login', of('login', 'clock'), of('login', 'processor')],
    ['launch', of('launch', 'clock'), of('launch', 'processor')],
  ];
  const whole = [1, 2].map((column) => rows.reduce((sum, row) => sum + Number(row[column]), 0));
  rows.push(['both', whole[0] ?? NaN, whole[1] ?? NaN]);
  rows.push(['cryptography only', of('cryptography', 'clock'), of('cryptography', 'processor')]);
  for (const [name, clock, processor] of rows) {
    console.log(`  ${name.padEnd(20)} ${perSecond(clock)}  ${perLaunch(processor)}`);
  }
  const share = (of('cryptography', 'processor') / (whole[1] ?? NaN)) * 100;
  console.log(`  cryptography is ${share.toFixed(0)} % of the API's cost of login and launch`);
}
