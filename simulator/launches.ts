import { randomText } from './ids.ts';
import type { Tampering } from './id-token.ts';
import type { Course, DocumentTarget, Launch, Link, Tool, User } from './model.ts';
import type { Platform } from './platform.ts';

export interface LaunchOptions {
  user: User;
  /** Where to, unless `deepLink` says otherwise. */
  link?: Link;
  /** Asks for content for a course instead of launching a link. */
  deepLink?: { course: Course; tool: Tool; settings?: Readonly<Record<string, unknown>> };
  /** The first of the tool's, or the link's own, unless told otherwise. */
  deploymentId?: string;
  target?: DocumentTarget;
  locale?: string;
  storageTarget?: string | null;
  /** GET unless told otherwise. */
  method?: 'GET' | 'POST';
  tampering?: Tampering;
}

/** The frame of the platform's pages that keeps data for tools. */
export const storageFrame = 'lti_storage';

/** Remembers a launch for an hour. @throws when neither a link nor deep linking is asked for, or their tool is gone. */
export function startLaunch(platform: Platform, options: LaunchOptions): Launch {
  const { target = 'iframe', locale = 'en-GB', storageTarget = null, method = 'GET' } = options;
  const { user, tampering } = options;
  const how = { target, locale, storageTarget, method, tampering };
  return remember(platform, { hint: randomText(), used: false, user, ...how, ...aimOf(platform, options) });
}

/** The same once more, with a hint that was not used yet: as when somebody reloads the platform's page. */
export function repeatLaunch(platform: Platform, launch: Launch): Launch {
  return remember(platform, { ...launch, hint: randomText(), used: false });
}

function remember(platform: Platform, launch: Launch): Launch {
  platform.launches.set(launch.hint, launch);
  const summary = `for ${launch.user.name} to ${launch.tool.name}`;
  const content = loginParameters(platform, launch);
  platform.journal.tell({ kind: 'login', accepted: true, summary, content });
  return launch;
}

function aimOf(platform: Platform, { link, deepLink, deploymentId }: LaunchOptions) {
  if (deepLink !== undefined) {
    const { tool, course, settings = {} } = deepLink;
    const [first = ''] = tool.deploymentIds;
    const targetLinkUri = tool.deepLinkUrl ?? tool.targetLinkUri;
    const deployment = deploymentId ?? first;
    return {
      tool,
      course,
      link: null,
      deploymentId: deployment,
      targetLinkUri,
      deepLinkingSettings: settings,
    };
  }
  const tool = platform.tools.get(link?.clientId ?? '');
  const course = platform.courses.get(link?.courseId ?? '');
  if (link === undefined || tool === undefined || course === undefined) {
    throw new Error('A launch needs a link of a registered tool, or deepLink.');
  }
  return {
    tool,
    course,
    link,
    deploymentId: deploymentId ?? link.deploymentId,
    targetLinkUri: link.url,
    deepLinkingSettings: {},
  };
}

/** The third-party initiated login: what the browser brings to the tool's login address. */
function loginParameters({ settings }: Platform, launch: Launch): Record<string, string> {
  return {
    iss: settings.issuer,
    login_hint: launch.user.loginHint,
    target_link_uri: launch.targetLinkUri,
    lti_message_hint: launch.hint,
    client_id: launch.tool.clientId,
    lti_deployment_id: launch.deploymentId,
    ...(launch.storageTarget !== null && { lti_storage_target: launch.storageTarget }),
  };
}

export interface LoginRequest {
  method: 'GET' | 'POST';
  /** Where to; without a query where the method is GET, since forms replace it. */
  action: string;
  fields: Record<string, string>;
}

/** The login request as a form has it. @param changes laid over the parameters; undefined takes one away */
export function loginRequest(
  platform: Platform,
  launch: Launch,
  changes: Readonly<Record<string, string | undefined>> = {},
): LoginRequest {
  const { method, tool } = launch;
  const parameters = Object.entries({ ...loginParameters(platform, launch), ...changes });
  const fields = Object.fromEntries(
    parameters.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  ) as Record<string, string>;
  if (method === 'POST') return { method, action: tool.loginUrl, fields };
  const url = new URL(tool.loginUrl);
  const own = Object.fromEntries(url.searchParams);
  url.search = '';
  return { method, action: url.href, fields: { ...own, ...fields } };
}
