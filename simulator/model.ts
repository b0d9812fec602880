import { randomBytes, randomInt } from 'node:crypto';
import type { Tampering } from './id-token.ts';
import type { activityProgresses, gradingProgresses } from './vocabulary.ts';

export interface User {
  /** `sub` of the messages: stable, and opaque to tools. */
  id: string;
  /** `login_hint`: another id of the user, opaque to tools. */
  loginHint: string;
  /** Whether messages have no `sub`, name or email. */
  anonymous: boolean;
  givenName: string;
  familyName: string;
  name: string;
  email: string;
  /** URIs of roles. */
  roles: readonly string[];
  /** Ids of the user's courses; null for all. */
  courseIds: readonly string[] | null;
}

/** A context of LTI. */
export interface Course {
  id: string;
  label: string;
  title: string;
  /** Ids of the courses it was copied from, the latest first. */
  history: readonly string[];
}

/** A resource link of LTI. */
export interface Link {
  id: string;
  courseId: string;
  clientId: string;
  deploymentId: string;
  title: string;
  /** The target link URI. */
  url: string;
  custom: Readonly<Record<string, string>>;
  /** Ids of the links it was copied from, the latest first. */
  history: readonly string[];
}

/** A column of a course's gradebook. */
export interface LineItem {
  /** A number, the last part of its URL. */
  id: string;
  courseId: string;
  clientId: string;
  /** The link that it belongs to; null for none. */
  linkId: string | null;
  label: string;
  /** Above 0. */
  scoreMaximum: number;
  resourceId?: string;
  tag?: string;
  startDateTime?: string;
  endDateTime?: string;
}

/** The fields that tools set. */
export type LineItemDetails = Pick<LineItem, 'label' | 'scoreMaximum'> &
  Partial<Pick<LineItem, 'resourceId' | 'tag' | 'startDateTime' | 'endDateTime'>>;

/** An accepted score, as the tool sent it. */
export interface Score {
  lineItemId: string;
  userId: string;
  /** ISO 8601. */
  timestamp: string;
  receivedAt: Date;
  activityProgress: (typeof activityProgresses)[number];
  gradingProgress: (typeof gradingProgresses)[number];
  /** Null for a score without points. */
  scoreGiven: number | null;
  scoreMaximum: number | null;
  comment: string | null;
  /** Whether it counts as another attempt, as in Canvas: true unless the tool says otherwise. */
  newSubmission: boolean;
}

export interface Tool {
  clientId: string;
  name: string;
  deploymentIds: readonly string[];
  loginUrl: string;
  redirectUris: readonly string[];
  jwksUrl: string;
  targetLinkUri: string;
  /** Null if deep linking uses the target link. */
  deepLinkUrl: string | null;
  /** Custom parameters of all messages. */
  custom: Readonly<Record<string, string>>;
  /** The allowed scopes of the grade services. */
  scopes: readonly string[];
  /** The message of each placement, in Canvas mode; null if teachers may choose content everywhere. */
  placements: ReadonlyMap<string, PlacementMessage> | null;
}

export interface PlacementMessage {
  type: string;
  targetLinkUri: string;
}

/** Where the platform shows the tool. */
export type DocumentTarget = 'iframe' | 'window';

/** A launch that waits for the tool's authorization request. */
export interface Launch {
  /** `lti_message_hint`, which is valid once. */
  hint: string;
  used: boolean;
  tool: Tool;
  user: User;
  course: Course;
  /** Null for deep linking. */
  link: Link | null;
  deploymentId: string;
  targetLinkUri: string;
  target: DocumentTarget;
  /** Such as "en-GB". */
  locale: string;
  /** `lti_storage_target`: the frame that stores data for the tool; null if the platform offers no storage. */
  storageTarget: string | null;
  /** Changes to the settings of a deep linking request; undefined removes one. */
  deepLinkingSettings: Readonly<Record<string, unknown>>;
  /** The method of the login request. */
  method: 'GET' | 'POST';
  /** Faults of its id_token. */
  tampering?: Tampering;
}

/** Returns 43 random characters of base64url, for secrets and unguessable ids. */
export function randomText(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns 40 hexadecimal digits, like Canvas's course ids. */
export function hexId(): string {
  return randomBytes(20).toString('hex');
}

/** Returns 15 letters and digits, like Moodle's client ids. */
export function randomClientId(): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
  return Array.from({ length: 15 }, () => alphabet[randomInt(alphabet.length)]).join('');
}
