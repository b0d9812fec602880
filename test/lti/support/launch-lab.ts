import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { DriveOptions } from '../../../simulator/drive-launch.ts';
import type { LinkOptions } from '../../../simulator/simulator.ts';
import { startSimulator } from '../../../simulator/start.ts';
import type { SimulatorOptions } from '../../../simulator/start.ts';
import { createPlatform } from '../../../shared/models/lti-platform.ts';
import type { LtiPlatform } from '../../../shared/models/lti-platform.ts';
import { verifyPlayerToken } from '../../../shared/tokens/player-tokens.ts';
import type { LaunchToken } from '../../../shared/tokens/player-tokens.ts';
import { publishLesson } from '../../player/player-lessons.ts';
import { expectSupportLine, textOf } from '../../embed/embed-pages.ts';
import { buildOrganization } from '../../support/factories.ts';
import { startHarness, testSigningSecrets } from '../../support/harness.ts';
import { useStarted } from '../../support/use.ts';

/** A Lectern, a platform that is registered with it, and a lesson with a link to it in a course. */
export type LaunchLab = Awaited<ReturnType<typeof startLaunchLab>>;

/** The response to a launch; `text` is that of the page without tags. */
export type LaunchAnswer = Awaited<ReturnType<typeof answerOf>>;

/** Starts a lab for the tests of one file. */
export function useLaunchLab(options?: SimulatorOptions): LaunchLab {
  return useStarted(
    () => startLaunchLab(options),
    (lab) => lab.close(),
  );
}

/** Like {@link useLaunchLab}, but the caller stops it. @param settings of Lectern. */
export async function startLaunchLab(options?: SimulatorOptions, settings: Record<string, string> = {}) {
  const harness = await startHarness(settings);
  const simulator = await startSimulator(options);
  const { host } = new URL(simulator.issuer);
  const startApi = (own: Record<string, string> = {}) =>
    harness.startApi({ LECTERN_ALLOWED_PRIVATE_HOSTS: host, ...own });
  const address = await startApi();
  const { organization, headers } = await buildOrganization(harness);
  const version = await publishLesson(harness, organization);

  const register = async (lectern: string, changes: Partial<LtiPlatform> = {}) => {
    const keySetId = randomUUID();
    const tool = simulator.addTool({
      loginUrl: `${lectern}/lti/login`,
      redirectUris: [`${lectern}/lti/launch`],
      jwksUrl: `${lectern}/lti/jwks/${keySetId}`,
      targetLinkUri: `${lectern}/lti/launch`,
    });
    const platform = await createPlatform(harness.db, {
      organizationId: organization._id,
      issuer: simulator.issuer,
      clientId: tool.clientId,
      deploymentIds: [...tool.deploymentIds],
      authUrl: simulator.urls.authorization,
      tokenUrl: simulator.urls.token,
      jwksUrl: simulator.urls.jwks,
      tokenAudience: null,
      keySetId,
      name: 'The simulator',
      status: 'active',
      ...changes,
    });
    return { tool, platform };
  };
  const { tool, platform } = await register(address);
  const addLink = (options: Partial<LinkOptions> = {}) =>
    simulator.addLink({
      course: simulator.sample.course,
      tool,
      custom: { lesson_id: version.lessonId },
      ...options,
    });
  const link = addLink();
  const usual = { user: simulator.sample.users.learner, link };
  const drive = (options?: Partial<DriveOptions>) => simulator.driveLaunch({ ...usual, ...options });

  return {
    ...{ harness, address, organization, headers, version, simulator, tool, platform, link },
    /** Starts another API over the same data. */
    startApi,
    /** Registers a platform's tool with the Lectern at a URL, and that Lectern with the platform. */
    register,
    /** Returns a link in the sample course, by default to the lesson. */
    addLink,
    /** Drives a launch up to the form that the platform sends, by default of the learner by the link. */
    drive,
    sendLogin: (options?: Partial<DriveOptions>) => simulator.sendLogin({ ...usual, ...options }),
    /** Launches as a browser does. */
    launch: async (options?: Partial<DriveOptions>) =>
      answerOf(await simulator.submitLaunch(await drive(options))),
    async close() {
      await simulator.close();
      await harness.close();
    },
  };
}

/** Sends a GET login in a frame, and then the request that follows it in a browser that did not keep the cookie. */
export async function loginWithoutCookie(
  lab: LaunchLab,
  options: Partial<DriveOptions> = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const asked = await lab.sendLogin(options);
  return fetch(new URL(asked.headers.get('location') ?? '', asked.url), { headers, redirect: 'manual' });
}

export async function answerOf(response: Response) {
  const { status, headers } = response;
  const html = await response.text();
  return { status, headers, html, text: textOf({ status, headers, body: Buffer.from(html) }) };
}

/** Returns the token that a launch ends with; undefined when it ends without one. */
export function tokenOf({ headers }: Pick<LaunchAnswer, 'headers'>): string | undefined {
  const location = headers.get('location');
  return location === null ? undefined : (new URL(location).searchParams.get('token') ?? undefined);
}

/** Returns the claims of the token. */
export function claimsOf(answer: LaunchAnswer): LaunchToken {
  const token = verifyPlayerToken(testSigningSecrets, tokenOf(answer) ?? '');
  if (token.kind !== 'launch') throw new Error('This is no launch token');
  return token;
}

/** Checks that a response is the error page for a code, and that it echoes nothing of the request. */
export function expectRejection(
  answer: LaunchAnswer,
  status: number,
  code: string,
  secrets: string[] = [],
): void {
  const { headers, html, text } = answer;
  const shown = /<code dir="ltr">(\w+)<\/code>/.exec(html)?.[1];
  expect({ status: answer.status, code: shown }).toEqual({ status, code });
  expectSupportLine(text, code, headers.get('x-request-id'));
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(headers.get('location')).toBeNull();
  expect(headers.get('cache-control')).toBe('no-store');
  for (const secret of secrets) expect(html).not.toContain(secret);
}
