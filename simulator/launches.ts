import { randomText } from './model.ts';
import type { Tampering } from './id-token.ts';
import type { Course, DocumentTarget, Launch, Link, Tool, User } from './model.ts';
import { messageOfPlacement } from './placements.ts';
import { messageTypes } from '../shared/lti/claims.ts';
import type { Platform } from './platform.ts';

export interface LaunchOptions {
  user: User;
  /** The link to launch; absent for deep linking. */
  link?: Link;
  /** Requests content for a course instead of launching a link. */
  deepLink?: {
    course: Course;
    tool: Tool;
    settings?: Readonly<Record<string, unknown>>;
    /** In Canvas mode, where the teacher begins; by default in a module. */
    placement?: string;
  };
  /** By default the link's, or the tool's first. */
  deploymentId?: string;
  target?: DocumentTarget;
  locale?: string;
  storageTarget?: string | null;
  /** GET by default. */
  method?: 'GET' | 'POST';
  tampering?: Tampering;
}

/** The name of the frame that stores data for tools. */
export const storageFrame = 'lti_storage';

/** Stores a launch for an hour. @throws without a link and deep linking, or without their tool. */
export function startLaunch(platform: Platform, options: LaunchOptions): Launch {
  const { target = 'iframe', locale = 'en-GB', storageTarget = null, method = 'GET' } = options;
  const { user, tampering } = options;
  const how = { target, locale, storageTarget, method, tampering };
  return storeLaunch(platform, {
    hint: randomText(),
    used: false,
    user,
    ...how,
    ...targetOf(platform, options),
  });
}

/** Repeats a launch with a new hint, as when a user reloads the platform's page. */
export function repeatLaunch(platform: Platform, launch: Launch): Launch {
  return storeLaunch(platform, { ...launch, hint: randomText(), used: false });
}

function storeLaunch(platform: Platform, launch: Launch): Launch {
  platform.launches.set(launch.hint, launch);
  const summary = `for ${launch.user.name} to ${launch.tool.name}`;
  const content = loginParameters(platform, launch);
  platform.journal.addMessage({ kind: 'login', accepted: true, summary, content });
  return launch;
}

function targetOf(platform: Platform, { link, deepLink, deploymentId }: LaunchOptions) {
  if (deepLink !== undefined) {
    const { tool, course, settings = {}, placement = 'link_selection' } = deepLink;
    const [first = ''] = tool.deploymentIds;
    const { type, targetLinkUri } = messageOfPlacement(tool, placement);
    const deployment = deploymentId ?? first;
    const isLink = type === messageTypes.resourceLink;
    return {
      tool,
      course,
      link: isLink ? linkOfCourse(course, tool, deployment, targetLinkUri) : null,
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

/** A placement with a resource link message launches the course itself: the tool learns of no choice. */
function linkOfCourse(course: Course, tool: Tool, deploymentId: string, url: string): Link {
  const { clientId, name: title } = tool;
  return { id: course.id, courseId: course.id, clientId, deploymentId, title, url, custom: {}, history: [] };
}

/** Returns the parameters of the third-party initiated login. */
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
  /** The tool's login URL. With GET it has no query, because forms replace it. */
  action: string;
  fields: Record<string, string>;
}

/** Returns the login request as a form. @param changes to the parameters; undefined removes one */
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
