/* Generated from the OpenAPI document by `npm run types -w clients/typescript`. */

import type { Routes as ClientRoutes } from '../clients/typescript/src/api.ts';

export type * from '../clients/typescript/src/api.ts';

/** A block of a step, in the data model of the Puck editor. */
export type Block = {
  /** The widget type; only a draft may lack it. */
  type?: string;
  props: {
    /** Unique in the step. */
    id: string;
  };
};

export type InstallationHealth = {
  ok: boolean;
  checks: {
    name: string;
    ok: boolean;
    version: string | null;
    /** The finding; if it is not ok, followed by the remedy. */
    message: string;
  }[];
};

export type InstallationStorage = {
  /** The folder or the bucket. */
  place: string;
  /** Of the filesystem; null for a bucket. */
  sizeBytes: number | null;
  freeBytes: number | null;
  /** The limit of copies that can be made again: archives and downloads; null for none. */
  maxCopyBytes: number | null;
};

export type InvitedOperator = {
  id: string;
  email: string;
  /** `invited` until the first password is set. */
  status: 'invited' | 'active' | 'disabled';
  /** Whether logins need a code of an authenticator app. */
  twoStep: boolean;
  createdAt: string;
  lastLogInAt: string | null;
  /** Until when an open invitation is valid. */
  invitationExpiresAt: string | null;
  invitation: UserInvitation;
};

export type InvitedUser = {
  id: string;
  email: string;
  role: 'teacher' | 'author' | 'admin';
  /** `invited` until the first password is set. */
  status: 'invited' | 'active' | 'disabled';
  /** Whether logins need a code of an authenticator app. */
  twoStep: boolean;
  createdAt: string;
  lastLogInAt: string | null;
  /** Until when an open invitation is valid. */
  invitationExpiresAt: string | null;
  invitation: UserInvitation;
};

export type OperatedExport = {
  organizationId: string;
  id: string;
  lessonId: string;
  versionId: string;
  slug: string;
  versionNumber: number;
  /** What kind of archive it is, with its options. */
  profile: string;
  status: 'queued' | 'building' | 'ready' | 'failed' | 'canceled';
  progress: { done: number; total: number; bytes: number };
  /** The bytes of the archive; null until it is ready. */
  size: number | null;
  /** How many files it lacks, which its manifest names; null until it is ready. */
  missingFiles: number | null;
  error: { code: string; message: string } | null;
  requestedAt: string;
  endedAt: string | null;
};

export type OperatedOrganization = {
  id: string;
  slug: string;
  name: string;
  plan: 'solo' | 'edtech';
  /** The origins whose pages may embed its lessons; any page may if there are none. */
  allowedOrigins: string[];
  /** Whether its lessons play videos in the players of YouTube and Vimeo. */
  externalVideos: boolean;
  /** The days after which new API keys expire; null for never. */
  keyDays: number | null;
  createdAt: string;
  /** How many bytes it may store: 0 for any number, null for the default. */
  maxStoredBytes: number | null;
  suspendedAt: string | null;
};

export type Operator = {
  id: string;
  email: string;
  /** `invited` until the first password is set. */
  status: 'invited' | 'active' | 'disabled';
  /** Whether logins need a code of an authenticator app. */
  twoStep: boolean;
  createdAt: string;
  lastLogInAt: string | null;
  /** Until when an open invitation is valid. */
  invitationExpiresAt: string | null;
};

/** A lesson for the player. Media appear in it as `media:<uuid>`, even inside longer strings. */
export type PlayerLesson = {
  lesson: {
    status: 'draft' | 'published' | 'unpublished';
    id: string;
    title: string;
    variable_definitions: { name: string; type: string; initialValue: unknown }[];
    widget_settings: { overrides: Record<string, unknown> };
  };
  /** In playing order. */
  sections: Section[];
  totalSteps: number;
  totalSections: number;
  /** The credits of its media, which learners must see. The player shows them. */
  attributions: { mediaId: string; text: string; url: string; portfolioUrl: string }[];
};

export type PreviewFrame = {
  /** Path of the page that shows blocks, for a sandboxed frame. */
  frameUrl: string;
  /** Path of the folder of media and widgets. */
  contentUrl: string;
  /** When `contentUrl` expires. */
  expiresAt: string;
  /** The stylesheet of the theme. */
  theme: string | null;
  /** The color scheme of the theme. */
  scheme: 'light' | 'dark' | null;
  /** Types of core widgets for which the lesson has its own widgets. */
  ownTypes: string[];
};

export type Queues = {
  /** Worker processes that take export jobs. */
  workers: number;
  /** Jobs by state. Pre-builds are exports that no request has asked for yet. */
  exports: {
    waiting: number;
    prebuild: number;
    active: number;
    active_prebuild: number;
    delayed: number;
    completed: number;
    failed: number;
  };
  grades: { waiting: number; failed: number };
  webhook: { waiting: number; failed: number };
  xapi: { waiting: number; failed: number };
  /** The path of the queue board, which takes this session. */
  board: string;
};

export type RecoveryCodes = {
  /** Each logs in once instead of a code. They are shown only once. */
  recoveryCodes: string[];
};

export type Section = {
  id: string;
  title: string;
  order_index: number;
  /** In playing order. */
  steps: Step[];
};

export type Step = {
  id: string;
  title: string;
  order_index: number;
  content: {
    content: Block[];
    root: Record<string, unknown>;
    /** Blocks of older content, by `<block id>:<zone>`. */
    zones?: Record<string, Block[]>;
  };
};

export type TwoStepSetup = {
  /** In Base32, for typing. */
  secret: string;
  /** `otpauth://…`, for a QR code. */
  uri: string;
};

export type UserInvitation = {
  /** For `POST /api/invitation/accept`. It is shown only once. */
  token: string;
  /** The page that sets the password, for the user alone. */
  url: string;
  expiresAt: string;
};

export type UserPlayerData = {
  lesson: PlayerLesson;
  userAttributes: { userId: string; email: string; role: 'teacher' | 'author' | 'admin' | 'operator' };
  /** With `include_metadata=true`. */
  metadata?: {
    title: string;
    status: 'draft' | 'published' | 'unpublished';
    totalSections: number;
    totalSteps: number;
    /** Minutes. */
    estimatedDuration: number;
  };
  /** Unless `validate_playability=false`. */
  playability?: {
    valid: boolean;
    errors: {
      code: 'no_sections' | 'empty_section' | 'empty_step' | 'block_without_type';
      /** For people. */
      message: string;
      sectionId?: string;
      stepId?: string;
    }[];
  };
};

export type UserSession = {
  user: { id: string; email: string; role: 'teacher' | 'author' | 'admin' | 'operator' };
  /** Null for operators. */
  organization: { id: string; slug: string; name: string; plan: 'solo' | 'edtech' } | null;
  /** What the user may do: the scopes of API credentials that the role has, or `operator`. Programs must expect further ones. */
  permissions: (
    | 'read'
    | 'content'
    | 'tokens'
    | 'learners'
    | 'erase'
    | 'retention'
    | 'deliveries'
    | 'audit'
    | 'accounts'
    | 'platforms'
    | 'organization'
    | 'operator'
  )[];
  /** Whether logins need a code. `required`: the user has no permissions until two-step login is set up. */
  twoStep: 'on' | 'off' | 'required';
  /** When the session ends. */
  expiresAt: string;
};

/** What each endpoint takes and returns. */
export interface Routes extends ClientRoutes {
  /** Log in */
  'POST /api/session': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: {
      email: string;
      password: string;
      /** Of the authenticator app, or a recovery code; if two-step login is on. */
      code?: string;
    };
    result: UserSession;
  };
  /** Get the logged-in user */
  'GET /api/session': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    result: UserSession;
  };
  /** Log out */
  'DELETE /api/session': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    result: undefined;
  };
  /** Turn off two-step login */
  'POST /api/session/two-step/disable': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: { code: string };
    result: undefined;
  };
  /** Replace the recovery codes */
  'POST /api/session/two-step/recovery-codes': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: { code: string };
    result: RecoveryCodes;
  };
  /** Begin to set up two-step login */
  'POST /api/session/two-step': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    result: TwoStepSetup;
  };
  /** Turn on two-step login */
  'PUT /api/session/two-step': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: {
      password: string;
      /** Of the new secret. */
      code: string;
      /** Of the present secret, or a recovery code; if two-step login is on. */
      currentCode?: string;
      secret: string;
    };
    result: RecoveryCodes;
  };
  /** Set a password with an invitation */
  'POST /api/invitation/accept': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: {
      /** Of the invitation: its link has it after the `#`. */
      token: string;
      password: string;
    };
    result: undefined;
  };
  /** Read an invitation */
  'POST /api/invitation': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: {
      /** Of the invitation: its link has it after the `#`. */
      token: string;
    };
    result: { email: string; organization: string | null; expiresAt: string };
  };
  /** Change the own password */
  'PUT /api/session/password': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: { currentPassword: string; newPassword: string };
    result: undefined;
  };
  /** Invite an operator again */
  'POST /api/operator/users/{userId}/invitation': {
    params: {
      /** Id of the operator. */
      userId: string;
    };
    query: Record<never, never>;
    body: {
      /** Of the user who sends the request. */
      password: string;
      /** Of that user's app, or a recovery code; if the user's two-step login is on. */
      code?: string;
    };
    result: UserInvitation;
  };
  /** Change an operator */
  'PATCH /api/operator/users/{userId}': {
    params: {
      /** Id of the operator. */
      userId: string;
    };
    query: Record<never, never>;
    body: {
      /** `disabled` rejects the user's logins and ends the user's sessions for good. */
      status?: 'active' | 'disabled';
      /** Turns off two-step login, for an operator who has lost the device and the recovery codes. Needs `password`. */
      twoStep?: 'off';
      /** Of the user who sends the request. */
      password?: string;
      /** Of that user's app, or a recovery code; if the user's two-step login is on. */
      code?: string;
    };
    result: Operator;
  };
  /** Delete an operator */
  'DELETE /api/operator/users/{userId}': {
    params: {
      /** Id of the operator. */
      userId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: undefined;
  };
  /** Invite an operator */
  'POST /api/operator/users': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: {
      /** Unique in the whole installation. */
      email: string;
    };
    result: InvitedOperator;
  };
  /** List operators */
  'GET /api/operator/users': {
    params: Record<never, never>;
    query: {
      /** The maximum number of operators on a page. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: {
      users: Operator[];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
    };
  };
  /** Invite a user to an organization as an operator */
  'POST /api/operator/organizations/{organizationId}/users': {
    params: {
      /** Id of the organization. */
      organizationId: string;
    };
    query: Record<never, never>;
    body: {
      /** Unique in the whole installation. */
      email: string;
      role: 'teacher' | 'author' | 'admin';
    };
    result: InvitedUser;
  };
  /** Read an organization as an operator */
  'GET /api/operator/organizations/{organizationId}': {
    params: {
      /** Id of the organization. */
      organizationId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: OperatedOrganization;
  };
  /** Change an organization as an operator */
  'PATCH /api/operator/organizations/{organizationId}': {
    params: {
      /** Id of the organization. */
      organizationId: string;
    };
    query: Record<never, never>;
    body: {
      name?: string;
      plan?: 'solo' | 'edtech';
      maxStoredBytes?: number | null;
      /** `suspended` rejects the API keys and tokens of the organization, and ends its sessions. Its data stay, and what it has begun goes on. Tokens from before a suspension stay invalid after it. */
      status?: 'active' | 'suspended';
    };
    result: OperatedOrganization;
  };
  /** Create an organization */
  'POST /api/operator/organizations': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: {
      /** A short name for commands. It never changes. */
      slug: string;
      name: string;
      plan: 'solo' | 'edtech';
    };
    result: OperatedOrganization;
  };
  /** List organizations */
  'GET /api/operator/organizations': {
    params: Record<never, never>;
    query: {
      /** The maximum number of organizations on a page. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: {
      organizations: OperatedOrganization[];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
    };
  };
  /** Load a lesson as a user */
  'GET /api/lessons/{lessonId}/player-data': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
    };
    query: {
      /** Any version of the lesson, including unpublished ones. */
      versionId?: string;
      /** Include `metadata`. */
      include_metadata?: boolean;
      /** Check that the lesson can be played, and include `playability`. */
      validate_playability?: boolean;
    };
    body: undefined;
    result: UserPlayerData;
  };
  /** List the exports of all organizations */
  'GET /api/operator/exports': {
    params: Record<never, never>;
    query: {
      /** Only exports with this status. */
      status?: 'queued' | 'building' | 'ready' | 'failed' | 'canceled';
      /** The maximum number of exports on a page. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: {
      exports: OperatedExport[];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
    };
  };
  /** Check the installation */
  'GET /api/operator/health': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    result: InstallationHealth;
  };
  /** Count what waits */
  'GET /api/operator/queues': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    result: Queues;
  };
  /** Read the room of the store */
  'GET /api/operator/storage': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    result: InstallationStorage;
  };
  /** Prepare the editor's preview */
  'GET /api/lessons/{lessonId}/draft/preview-frame': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: PreviewFrame;
  };
}
