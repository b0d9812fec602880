import type { Addresses } from './addresses.ts';
import { addCourse, addLink, copyCourse, linksOf } from './courses.ts';
import { driveLaunch, sendLogin, submitLaunch } from './drive-launch.ts';
import type { DrivenLaunch, DriveOptions } from './drive-launch.ts';
import type { Fault, Service } from './faults.ts';
import type { Tampering } from './id-token.ts';
import type { LoggedRequest, Message } from './journal.ts';
import { createPlatformKey } from './keys.ts';
import { addLineItem, addressOfLineItem, currentScores, lineItemsOf } from './line-items.ts';
import type { Course, LineItem, LineItemDetails, Link, Score, Tool, User } from './model.ts';
import type { Platform } from './platform.ts';
import { addTool, registrationAddress } from './tools.ts';
import type { ToolDetails } from './tools.ts';
import { addSampleUsers, addUser } from './users.ts';
import type { UserDetails } from './users.ts';

export interface LinkOptions {
  course: Course;
  tool: Tool;
  title?: string;
  /** The tool's target link unless told otherwise. */
  url?: string;
  custom?: Readonly<Record<string, string>>;
  /** The tool's first unless told otherwise. */
  deploymentId?: string;
  /** Null, as without it: the link has no line item. */
  lineItem?: LineItemDetails | null;
  history?: readonly string[];
}

/** A running platform: what a program does with it that people do on its pages, and the faults. */
export interface Simulator {
  readonly addresses: Addresses;
  readonly issuer: string;
  /** There from the start. */
  readonly sample: { course: Course; users: ReturnType<typeof addSampleUsers> };

  addUser(details?: UserDetails): User;
  addCourse(details?: Partial<Course>): Course;
  /** With new ids for the course, its links and line items, and histories that name the old ones. */
  copyCourse(course: Course): Course;
  addTool(details: ToolDetails): Tool;
  /** All that are registered, in order. */
  tools(): Tool[];
  addLink(options: LinkOptions): Link;
  linksOf(course: Course): Link[];
  addLineItem(owner: { course: Course; tool: Tool; link?: Link }, details: LineItemDetails): LineItem;
  lineItemsOf(link: Link): LineItem[];
  /** As a teacher does. */
  removeLineItem(lineItem: LineItem): void;
  /** As tools know it. */
  addressOf(lineItem: LineItem): string;

  /** All that were accepted for a line item, in order of arrival. */
  scoresOf(lineItem: LineItem): Score[];
  /** The one that counts, of each user. */
  currentScores(lineItem: LineItem): Map<string, Score>;

  /** The tool's registration address with the configuration's and a new one-time token in its query. */
  registrationUrl(toolUrl: string): string;

  sendLogin(options: DriveOptions): Promise<Response>;
  driveLaunch(options: DriveOptions): Promise<DrivenLaunch>;
  submitLaunch(launch: DrivenLaunch): Promise<Response>;

  /** Of the next id_token that has none of its launch's own. */
  tamperWithNext(tampering: Tampering): void;
  fail(service: Service, fault: Fault): void;
  /** Takes faults back: of a service, or all. */
  heal(service?: Service): void;
  /** Access tokens that are out are good no longer. */
  revokeTokens(): void;
  /** Signs with a new key from now on; the old ones stay published unless told otherwise. Gives the new `kid`. */
  rotateKey(options?: { keepOld?: boolean }): Promise<string>;

  /** The newest requests to the platform, in order of arrival. */
  readonly requests: readonly LoggedRequest[];
  /** The newest messages, decoded. */
  readonly messages: readonly Message[];
  close(): Promise<void>;
}

/** @param close ends the server. */
export function createSimulator(platform: Platform, close: () => Promise<void>): Simulator {
  const users = addSampleUsers(platform);
  const course = addCourse(platform);
  return {
    addresses: platform.addresses,
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
    addressOf: (lineItem: LineItem) => addressOfLineItem(platform, lineItem),
    scoresOf: ({ id }: LineItem) => platform.scores.filter(({ lineItemId }) => lineItemId === id),
    currentScores: ({ id }: LineItem) => currentScores(platform, id),
  };
}

function launchFunctions(platform: Platform) {
  return {
    registrationUrl: (toolUrl: string) => registrationAddress(platform, toolUrl).url,
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
