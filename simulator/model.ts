import type { Tampering } from './id-token.ts';
import type { activityProgresses, gradingProgresses } from './vocabulary.ts';

/** A person of the platform. */
export interface User {
  /** `sub` of the messages: stable, and opaque to tools. */
  id: string;
  /** `login_hint`: another name of the user, which only the platform can read. */
  loginHint: string;
  /** The platform tells tools nothing of who it is: messages have no `sub`, name or address. */
  anonymous: boolean;
  givenName: string;
  familyName: string;
  name: string;
  email: string;
  /** Addresses of roles. */
  roles: readonly string[];
  /** Ids of the courses that the user is in; null for all. */
  courseIds: readonly string[] | null;
}

/** A context of LTI. */
export interface Course {
  id: string;
  label: string;
  title: string;
  /** Ids of the courses it was copied from, the nearest first. */
  history: readonly string[];
}

/** A resource link of LTI: what a teacher put into a course. */
export interface Link {
  id: string;
  courseId: string;
  clientId: string;
  deploymentId: string;
  title: string;
  /** The target link URI. */
  url: string;
  custom: Readonly<Record<string, string>>;
  /** Ids of the links it was copied from, the nearest first. */
  history: readonly string[];
}

/** A column of a course's gradebook. */
export interface LineItem {
  /** A number, the last part of its address. */
  id: string;
  courseId: string;
  clientId: string;
  /** Of the link that it belongs to; null for one that stands alone. */
  linkId: string | null;
  label: string;
  /** Above 0. */
  scoreMaximum: number;
  resourceId?: string;
  tag?: string;
  startDateTime?: string;
  endDateTime?: string;
}

/** What a tool says of a line item that it makes or declares. */
export type LineItemDetails = Pick<LineItem, 'label' | 'scoreMaximum'> &
  Partial<Pick<LineItem, 'resourceId' | 'tag' | 'startDateTime' | 'endDateTime'>>;

/** A score as a tool sent it; only accepted ones are kept. */
export interface Score {
  lineItemId: string;
  userId: string;
  /** ISO 8601, as it was sent. */
  timestamp: string;
  receivedAt: Date;
  activityProgress: (typeof activityProgresses)[number];
  gradingProgress: (typeof gradingProgresses)[number];
  /** Null: there is no score at present. */
  scoreGiven: number | null;
  scoreMaximum: number | null;
  comment: string | null;
  /** Whether it counts as another attempt of the user, as Canvas has it: unless the tool says otherwise. */
  newSubmission: boolean;
}

/** A tool that is registered with the platform. */
export interface Tool {
  clientId: string;
  name: string;
  deploymentIds: readonly string[];
  loginUrl: string;
  redirectUris: readonly string[];
  /** Where its public keys are. */
  jwksUrl: string;
  targetLinkUri: string;
  /** Null: deep linking goes to the target link. */
  deepLinkUrl: string | null;
  /** Parameters of every message. */
  custom: Readonly<Record<string, string>>;
  /** What it may ask of the grade services. */
  scopes: readonly string[];
}

/** Where the platform shows the tool. */
export type DocumentTarget = 'iframe' | 'window';

/** What a teacher or learner clicked on, kept until the tool asks for the message. */
export interface Launch {
  /** `lti_message_hint`. */
  hint: string;
  /** Whether the message was asked for: a hint is good once. */
  used: boolean;
  tool: Tool;
  user: User;
  course: Course;
  /** Null: deep linking. */
  link: Link | null;
  deploymentId: string;
  targetLinkUri: string;
  target: DocumentTarget;
  /** Such as "en-GB". */
  locale: string;
  /** `lti_storage_target`: the frame that keeps data for the tool; null: the platform does not offer it. */
  storageTarget: string | null;
  /** Laid over the settings of a deep linking request; undefined takes one away. */
  deepLinkingSettings: Readonly<Record<string, unknown>>;
  /** Of the login request. */
  method: 'GET' | 'POST';
  /** Of its id_tokens. */
  tampering?: Tampering;
}
