import { sign } from 'node:crypto';
import type { PlatformUrls } from './urls.ts';
import { addCourse, addLink, copyCourse, linksOf } from './courses.ts';
import { driveLaunch, sendLogin, submitLaunch } from './drive-launch.ts';
import type { DrivenLaunch, DriveOptions } from './drive-launch.ts';
import type { Fault, Service } from './faults.ts';
import type { Tampering } from './id-token.ts';
import type { LoggedRequest, Message } from './journal.ts';
import { createPlatformKey, signingKey, toKeyObject } from './keys.ts';
import { addLineItem, lineItemUrlOf, currentScores, lineItemsOf } from './line-items.ts';
import type { Course, LineItem, LineItemDetails, Link, Score, Tool, User } from './model.ts';
import type { Platform } from './platform.ts';
import { addTool, invitationUrl } from './tools.ts';
import type { ToolDetails } from './tools.ts';
import { addSampleUsers, addUser } from './users.ts';
import type { UserDetails } from './users.ts';

export interface LinkOptions {
  course: Course;
  tool: Tool;
  title?: string;
  /** By default the tool's target link. */
  url?: string;
  custom?: Readonly<Record<string, string>>;
  /** By default the tool's first. */
  deploymentId?: string;
  /** By default none. */
  lineItem?: LineItemDetails | null;
  history?: readonly string[];
}

/** A running platform, for programs: what users do on its pages, and faults. */
export interface Simulator {
  readonly urls: PlatformUrls;
  readonly issuer: string;
  readonly sample: { course: Course; users: ReturnType<typeof addSampleUsers> };

  addUser(details?: UserDetails): User;
  addCourse(details?: Partial<Course>): Course;
  /** Copies a course with its links and line items. Their histories name the originals. */
  copyCourse(course: Course): Course;
  addTool(details: ToolDetails): Tool;
  /** Returns all tools, the oldest first. */
  tools(): Tool[];
  addLink(options: LinkOptions): Link;
  linksOf(course: Course): Link[];
  addLineItem(owner: { course: Course; tool: Tool; link?: Link }, details: LineItemDetails): LineItem;
  lineItemsOf(link: Link): LineItem[];
  removeLineItem(lineItem: LineItem): void;
  urlOf(lineItem: LineItem): string;

  /** Returns all accepted scores of a line item, in order of arrival. */
  scoresOf(lineItem: LineItem): Score[];
  /** Returns each user's last score. */
  currentScores(lineItem: LineItem): Map<string, Score>;

  /** Returns the tool's registration URL with a one-time invitation in its query. */
  registrationUrl(toolUrl: string): string;

  sendLogin(options: DriveOptions): Promise<Response>;
  driveLaunch(options: DriveOptions): Promise<DrivenLaunch>;
  submitLaunch(launch: DrivenLaunch): Promise<Response>;

  /** Tampers with the next id_token whose launch has no tampering. */
  tamperWithNext(tampering: Tampering): void;
  fail(service: Service, fault: Fault): void;
  /** Removes the faults of one service, or of all. */
  heal(service?: Service): void;
  /** Signs a text with the platform's key (RS256), in base64url: for tokens that tests write themselves. */
  sign(text: string): string;
  /** Revokes all access tokens. */
  revokeTokens(): void;
  /** Signs with a new key from then on. By default the old ones stay published. @returns the new `kid`. */
  rotateKey(options?: { keepOld?: boolean }): Promise<string>;

  /** The newest requests to the platform, in order of arrival. */
  readonly requests: readonly LoggedRequest[];
  /** The newest messages, decoded. */
  readonly messages: readonly Message[];
  close(): Promise<void>;
}

/** @param close closes the server. */
export function createSimulator(platform: Platform, close: () => Promise<void>): Simulator {
  const users = addSampleUsers(platform);
  const course = addCourse(platform);
  return {
    urls: platform.urls,
    issuer: platform.settings.issuer,
    sample: { users, course },
    ...contentFunctions(platform),
    ...launchFunctions(platform),
    ...faultFunctions(platform),
    requests: platform.journal.requests,
    messages: platform.journal.messages,
    close,
  };
}

function contentFunctions(platform: Platform) {
  return {
    addUser: (details?: UserDetails) => addUser(platform, details),
    addCourse: (details?: Partial<Course>) => addCourse(platform, details),
    copyCourse: (course: Course) => copyCourse(platform, course),
    addTool: (details: ToolDetails) => addTool(platform, details),
    tools: () => [...platform.tools.values()],
    addLink: ({ course, tool, lineItem = null, ...details }: LinkOptions) => {
      const [deploymentId = ''] = tool.deploymentIds;
      const otherwise = { title: 'Lesson', url: tool.targetLinkUri, custom: {}, deploymentId, history: [] };
      const owner = { courseId: course.id, clientId: tool.clientId };
      return addLink(platform, { ...otherwise, ...owner, ...details }, lineItem);
    },
    linksOf: (course: Course) => linksOf(platform, course.id),
    addLineItem: (
      { course, tool, link }: { course: Course; tool: Tool; link?: Link },
      details: LineItemDetails,
    ) => {
      const owner = { courseId: course.id, clientId: tool.clientId, linkId: link?.id ?? null };
      return addLineItem(platform, owner, details);
    },
    lineItemsOf: (link: Link) => lineItemsOf(platform, link),
    removeLineItem: ({ id }: LineItem) => void platform.lineItems.delete(id),
    urlOf: (lineItem: LineItem) => lineItemUrlOf(platform, lineItem),
    scoresOf: ({ id }: LineItem) => platform.scores.filter(({ lineItemId }) => lineItemId === id),
    currentScores: ({ id }: LineItem) => currentScores(platform, id),
  };
}

function launchFunctions(platform: Platform) {
  return {
    registrationUrl: (toolUrl: string) => invitationUrl(platform, toolUrl),
    sendLogin: (options: DriveOptions) => sendLogin(platform, options),
    driveLaunch: (options: DriveOptions) => driveLaunch(platform, options),
    submitLaunch,
  };
}

function faultFunctions(platform: Platform) {
  return {
    tamperWithNext: (tampering: Tampering) => void platform.tamperings.push(tampering),
    fail: (service: Service, fault: Fault) => {
      platform.faults.add(service, fault);
    },
    heal: (service?: Service) => {
      platform.faults.heal(service);
    },
    sign: (text: string) =>
      sign('sha256', Buffer.from(text), toKeyObject(signingKey(platform.keys))).toString('base64url'),
    revokeTokens: () => {
      platform.accessTokens.clear();
    },
    rotateKey: ({ keepOld = true }: { keepOld?: boolean } = {}) => rotateKey(platform, keepOld),
  };
}

async function rotateKey(platform: Platform, keepOld: boolean): Promise<string> {
  const key = await createPlatformKey();
  const { keys } = platform;
  if (!keepOld) keys.splice(0, keys.length);
  keys.push(key);
  return key.kid;
}
