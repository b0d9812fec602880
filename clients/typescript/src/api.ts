/* Generated from the OpenAPI document by `npm run types -w clients/typescript`. */

export type ApiKey = {
  publicKey: string;
  label: string | null;
  /** The id of the user, or the public key, that created it; null for the operator. */
  createdBy: string | null;
  /** Null for all, including those of later releases. */
  scopes:
    | (
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
      )[]
    | null;
  /** The ranges of IP addresses from which it is valid; null for all. */
  allowedAddresses: string[] | null;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  /** Accurate to a minute. */
  lastUsedAt: string | null;
};

export type AuditEntry = {
  /** The place in the log. */
  id: string;
  at: string;
  /** Such as `learner.erase`; docs/privacy.md lists them. */
  action: string;
  actor: {
    type: 'key' | 'user' | 'operator' | 'token' | 'system';
    /** The public key, the user’s id, login and host of an operator, or the id of a token. */
    id: string;
  };
  target: {
    type: string;
    /** For `learner` a pseudonym; otherwise an id. */
    id: string;
  } | null;
  details: Record<string, string | number | boolean | null>;
  /** An IPv4 address or an IPv6 network. */
  ip: string | null;
  requestId: string | null;
};

export type AuditPage = {
  entries: AuditEntry[];
  /** Null on the last page. */
  nextCursor: string | null;
};

export type ChangedLtiGrades = {
  changed: number;
  /** Whether there may be further ones: repeat the request. */
  more: boolean;
};

export type ConversionReport = {
  versionId: string;
  /** The id of the format, such as `h5p`. */
  format: string;
  converted: number;
  partial: number;
  kept: number;
  dropped: number;
  /** Every element of the source, in its order. */
  entries: {
    /** Where the element is in the source. */
    path: string;
    /** As the format calls it. */
    kind: string;
    title: string;
    /** `converted`: nothing is lost. `partial`: `reason` names what is. `kept`: it plays in its original form. `dropped`: it is missing in the lesson. */
    result: 'converted' | 'partial' | 'kept' | 'dropped';
    reason: string | null;
    stepId: string | null;
    blockId: string | null;
  }[];
};

export type CreatedApiKey = {
  publicKey: string;
  label: string | null;
  /** The id of the user, or the public key, that created it; null for the operator. */
  createdBy: string | null;
  /** Null for all, including those of later releases. */
  scopes:
    | (
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
      )[]
    | null;
  /** The ranges of IP addresses from which it is valid; null for all. */
  allowedAddresses: string[] | null;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  /** Accurate to a minute. */
  lastUsedAt: string | null;
  /** PUBLIC_KEY.SECRET_KEY, for the header `Authorization`. It is shown only once. */
  credentials: string;
};

export type CreatedLtiRegistration = {
  id: string;
  status: 'open' | 'used' | 'expired';
  createdAt: string;
  expiresAt: string;
  /** The platform that registered with it. */
  platformId: string | null;
  keySetId: string;
  keySetUrl: string;
  /** For one registration. It is shown only once. */
  url: string;
  /** For platforms without dynamic registration. */
  loginUrl: string;
  launchUrl: string;
};

export type CreatedWebhook = {
  id: string;
  url: string;
  events: (
    | 'progress.started'
    | 'progress.updated'
    | 'progress.scored'
    | 'progress.completed'
    | 'lesson.published'
    | 'lesson.unpublished'
    | 'export.ready'
    | 'export.failed'
    | 'lti.grade.failed'
    | 'learner.erased'
    | 'webhook.disabled'
    | 'xapi.paused'
  )[];
  description: string;
  status: 'active' | 'disabled';
  /** Why the webhook is disabled: its owner disabled it, its receiver returned 410 (`gone`), or it failed for three days (`failing`). Missing for an active webhook. */
  disabledReason?: 'owner' | 'gone' | 'failing';
  /** Since when every attempt has failed. Missing after a success. */
  failingSince?: string;
  /** When events were last not recorded, because too many deliveries of the organization waited. `until` is null while that lasts. Missing if it never happened. */
  missedEvents?: { since: string; until: string | null };
  createdAt: string;
  /** Signs deliveries (Standard Webhooks). Store it: no other response shows it. */
  secret: string;
};

export type Delivery = {
  id: string;
  kind: 'webhook' | 'xapi' | 'grade';
  /** Id of the webhook, the xAPI destination or the LTI platform. */
  targetId: string;
  /** The event type, the verb of the statement, or `score`. */
  type: string;
  status: 'pending' | 'delivered' | 'failed' | 'dismissed';
  lessonId: string | null;
  /** The `learnerId`, or the `ltiUserId`. */
  learnerId: string | null;
  createdAt: string;
  attempts: {
    at: string;
    /** Null for grades. */
    milliseconds: number | null;
    status: number | null;
    error: string | null;
    response: string | null;
  }[];
};

export type DeliveryPage = {
  deliveries: Delivery[];
  /** The cursor of the next page; null on the last. */
  nextCursor: string | null;
};

export type DraftStep = {
  stepId: string;
  /** Counts the saves of this part. */
  revision: number;
  savedAt: string;
  /** The author: an API key by its public key, or a user by id. */
  savedBy: { type: 'key' | 'user'; id: string };
  /** The `content` of the step in `lesson.json`. */
  content: Record<string, unknown>;
};

/** Progress of one learner in one lesson. */
export type EmbedProgress = {
  lessonId: string;
  /** As in the embed token. */
  learnerId: string;
  /** The status never goes back. */
  status: 'not_started' | 'in_progress' | 'completed';
  /** Points earned; null until the learner answers a scored question. */
  score: number | null;
  /** Points that could be earned; null when nothing is scored. */
  maxScore: number | null;
  /** Zero-based. */
  currentSectionIndex: number;
  /** Zero-based, inside the section. */
  currentStepIndex: number;
  totalSteps: number | null;
  /** State for resuming, as the player stored it. */
  progressData: Record<string, unknown> | null;
  /** Values of the lesson variables, as the player stored them. */
  variableState: Record<string, unknown> | null;
  /** Answers, in the order in which the first ones arrived. */
  items: ProgressItem[] | null;
  /** Those of the embed token that was issued last, of all that wrote. */
  userAttributes: Record<string, unknown> | null;
  /** The first activity; null while not started. */
  startedAt: string | null;
  /** When the lesson was first completed; never changes. */
  completedAt: string | null;
  /** The latest activity. */
  lastActivityAt: string;
};

export type Erasure = {
  id: string;
  mode: 'erase' | 'anonymize';
  /** `settling` lasts a minute: then Lectern removes what concurrent requests had written. */
  state: 'removing' | 'settling' | 'finished';
  requestedAt: string;
  finishedAt: string | null;
  removed: {
    /** Progress records of an integrator’s learner. */
    progress: number;
    /** Progress records of a user of an LTI platform. */
    ltiProgress: number;
    /** Grades for the platform’s gradebook, sent or waiting. */
    grades: number;
    /** Webhook events and xAPI statements, sent or waiting, with the responses to them. */
    deliveries: number;
  };
  /** Null until the job has begun. */
  downstream: {
    /** Platforms that have accepted grades, and keep them. */
    gradebooks: { platformId: string; issuer: string; grades: number }[];
    /** Learning record stores that may have statements. xAPI cannot delete them. */
    recordStores: { destinationId: string; endpoint: string }[];
    /** Webhooks that may have had events. Those with `isNotified` get `learner.erased`. */
    webhooks: { webhookId: string; url: string; isNotified: boolean }[];
  } | null;
};

export type ErasurePreview = {
  removed: {
    /** Progress records of an integrator’s learner. */
    progress: number;
    /** Progress records of a user of an LTI platform. */
    ltiProgress: number;
    /** Grades for the platform’s gradebook, sent or waiting. */
    grades: number;
    /** Webhook events and xAPI statements, sent or waiting, with the responses to them. */
    deliveries: number;
  };
  downstream: {
    /** Platforms that have accepted grades, and keep them. */
    gradebooks: { platformId: string; issuer: string; grades: number }[];
    /** Learning record stores that may have statements. xAPI cannot delete them. */
    recordStores: { destinationId: string; endpoint: string }[];
    /** Webhooks that may have had events. Those with `isNotified` get `learner.erased`. */
    webhooks: { webhookId: string; url: string; isNotified: boolean }[];
  };
};

export type ExportFailedEventData = {
  organizationId: string;
  lessonId: string;
  versionId: string;
  versionNumber: number;
  /** What the archive holds, as in export keys: "plain" without options. */
  profile: string;
  error: string;
};

/** The manifest.json of an archive, with a signed URL for each file. */
export type ExportManifest = {
  lessonId: string;
  title: string;
  versionNumber: number;
  versionId: string;
  publishedAt: string;
  /** The time of the first archive with this content. */
  exportedAt: string;
  /** The version of the package format, as a semantic version. */
  formatVersion: string;
  files: {
    lesson: {
      path: './lesson.json';
      /** The signed URL, for GET and HEAD, with `Range`, without credentials. */
      url: string;
      /** The expiry of the URL, in four hours. */
      expiresAt: string;
    };
    media: {
      id: string;
      mimeType: string;
      /** The path of the file below the top-level folder. */
      localPath: string;
      /** Bytes. */
      size: number;
      /** In hex. */
      sha256: string;
      /** The signed URL, for GET and HEAD, with `Range`, without credentials. */
      url: string;
      /** The expiry of the URL, in four hours. */
      expiresAt: string;
    }[];
    widgets: {
      widgetType: string;
      /** The path of the file below the top-level folder. */
      localPath: string;
      /** Bytes. */
      size: number;
      /** In hex. */
      sha256: string;
      /** The signed URL, for GET and HEAD, with `Range`, without credentials. */
      url: string;
      /** The expiry of the URL, in four hours. */
      expiresAt: string;
      /** The path of the file below the top-level folder. */
      cssLocalPath?: string;
      cssSize?: number;
      /** In hex. */
      cssSha256?: string;
      /** The signed URL of the stylesheet. */
      cssUrl?: string;
    }[];
    /** With `include=player` or a `format`: index.html, the files of player/, and those of the format. */
    player?: {
      /** The path of the file below the top-level folder. */
      localPath: string;
      /** Bytes. */
      size: number;
      /** In hex. */
      sha256: string;
      /** The signed URL, for GET and HEAD, with `Range`, without credentials. */
      url: string;
      /** The expiry of the URL, in four hours. */
      expiresAt: string;
    }[];
  };
  failedMedia: {
    id: string;
    /** The path of the file below the top-level folder. */
    localPath: string;
    /** The URL of its source, where it is known. */
    sourceUrl: string | null;
    reason:
      | 'not_found'
      | 'forbidden'
      | 'timeout'
      | 'too_large'
      | 'too_many_redirects'
      | 'rate_limited'
      | 'blocked_address'
      | 'bad_type'
      | 'truncated'
      | 'unknown_media'
      | 'network'
      | 'server_error';
    /** The HTTP status of the source, if it responded. */
    status?: number;
  }[];
  failedWidgets: {
    widgetType: string;
    /** Null if there is no widget of that type. */
    id: string | null;
    /** The URL of its source, where it is known. */
    sourceUrl: string | null;
    reason:
      | 'not_found'
      | 'forbidden'
      | 'timeout'
      | 'too_large'
      | 'too_many_redirects'
      | 'rate_limited'
      | 'blocked_address'
      | 'bad_type'
      | 'truncated'
      | 'unknown_media'
      | 'network'
      | 'server_error';
    /** The HTTP status of the source, if it responded. */
    status?: number;
    /** The URL of the stylesheet of a widget whose module is missing. */
    cssSourceUrl?: string;
  }[];
  attributions: { mediaId: string; text: string; url: string; portfolioUrl: string }[];
  /** Pages of videos that only their host plays. The archive has links to them. */
  externalVideos?: { url: string }[];
  /** In packages for learning platforms. */
  package?: {
    /** The value of the parameter `format`. */
    format: string;
    options: {
      /** In percent; null if the score decides nothing. */
      passMark: number | null;
      /** When a learner completes the lesson. */
      completion: 'allSteps' | 'finish' | 'passed';
      /** Whether a missed pass mark is reported. */
      reportsFailure: boolean;
      /** Whether the manifest of SCORM 1.2 has the pass mark, too. */
      declaresPassMark: boolean;
      /** Minutes between commits without a change; null for none. */
      keepAliveMinutes: number | null;
    };
    stateSize: {
      /** The limit of a learner’s state in the platform. */
      maxCharacters: number;
      /** The longest state; null if nothing limits an answer or a variable. */
      worstCaseCharacters: number | null;
      /** The longest state after all losses. */
      leastCharacters: number;
      /** `full` if every state fits; `truncated` if it may lose parts. */
      state: 'full' | 'truncated';
      /** The parts that it may lose, in this order. */
      mayLose: ('texts' | 'variables' | 'answers' | 'tries')[];
    };
  };
};

export type ExportReadyEventData = {
  organizationId: string;
  lessonId: string;
  versionId: string;
  versionNumber: number;
  /** What the archive holds, as in export keys: "plain" without options. */
  profile: string;
  bytes: number;
  /** Media and widgets that could not be downloaded. */
  failures: number;
};

/** The status of an export. */
export type ExportStatus = {
  /** `none`: it was never requested, it was canceled, or its archive was evicted. `queued`: it waits for a worker. `building`: a worker builds it. `ready`: the archive can be downloaded. `failed`: `error` has the reason; the next request retries. */
  status: 'none' | 'queued' | 'building' | 'ready' | 'failed';
  /** The progress of the build. */
  progress: {
    /** Files written so far. */
    done: number;
    /** Files in total; 0 until the build has counted them. */
    total: number;
    /** Bytes written so far. */
    bytes: number;
  };
  /** The position in the queue, while it is `queued`; 1 is next. */
  position?: number;
  /** While it is `queued` and no worker could take it. `no_worker`: no worker process is running; the operator has to start one. */
  reason?: 'no_worker';
  /** While it is `failed`. */
  error?: {
    /** A code of the export errors. */
    code: string;
    /** For people. */
    message: string;
  };
};

export type GradeFailedEventData = {
  organizationId: string;
  lessonId: string;
  ltiUserId: string;
  platformId: string;
  contextId: string | null;
  /** Id of the score, for `lectern lti resend`. */
  scoreId: string;
  reason: string;
  /** The status of the platform’s response; null without one. */
  httpStatus: number | null;
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

export type LearnerErasedEventData =
  | {
      source: 'embed';
      /** The learnerId of the embed token. */
      learnerId: string;
      organizationId: string;
    }
  | { source: 'lti'; ltiUserId: string; platformId: string; organizationId: string };

export type LearnerPage = {
  learners: ListedLearner[];
  /** The cursor of the next page; null on the last. */
  nextCursor: string | null;
};

export type LessonDraft = {
  id: string;
  lessonId: string;
  /** The newest version that was made of the draft, else the one that it began with. */
  versionId: string;
  createdAt: string;
  /** Counts the saves of this part. */
  revision: number;
  savedAt: string;
  /** The author: an API key by its public key, or a user by id. */
  savedBy: { type: 'key' | 'user'; id: string };
  /** A `lesson.json` whose steps have no `content`: the lesson, its sections and its steps, in their order. `revision` is that of the skeleton. */
  skeleton: Record<string, unknown>;
  /** Also those that were removed from the skeleton. */
  steps: {
    stepId: string;
    /** Counts the saves of this part. */
    revision: number;
    savedAt: string;
    /** The author: an API key by its public key, or a user by id. */
    savedBy: { type: 'key' | 'user'; id: string };
  }[];
};

export type LessonImport = {
  id: string;
  /** `uploading`: bytes are missing. `queued`: it waits for a worker. `importing`: a worker imports it. `imported`: `report` has the result. `failed`: `error` has the reason. `canceled`: it was deleted. */
  status: 'uploading' | 'queued' | 'importing' | 'imported' | 'failed' | 'canceled';
  fileName: string;
  upload: {
    /** The declared size in bytes. */
    size: number;
    /** The received bytes. */
    offset: number;
  };
  /** Files of the package that were imported, files in total, and bytes. */
  progress: { done: number; total: number; bytes: number };
  report: {
    lessonId: string;
    versionId: string;
    versionNumber: number;
    slug: string;
    published: boolean;
    /** Media of the package. */
    media: number;
    /** Widgets of the package. */
    widgets: number;
    warnings: string[];
    /** Null for a lesson package. */
    conversion: {
      /** The id of the format, such as `h5p`. */
      format: string;
      converted: number;
      partial: number;
      kept: number;
      dropped: number;
      /** Every element of the source, in its order; null in lists. */
      entries:
        | {
            /** Where the element is in the source. */
            path: string;
            /** As the format calls it. */
            kind: string;
            title: string;
            /** `converted`: nothing is lost. `partial`: `reason` names what is. `kept`: it plays in its original form. `dropped`: it is missing in the lesson. */
            result: 'converted' | 'partial' | 'kept' | 'dropped';
            reason: string | null;
            stepId: string | null;
            blockId: string | null;
          }[]
        | null;
    } | null;
    /** A new link for an hour, if the version was published and can be played. */
    preview: { url: string; expiresAt: string } | null;
  } | null;
  /** With `asMedia`: the file of the media library that was made or found. */
  mediaFileId: string | null;
  /** The message is that of the command. */
  error: { code: string; message: string } | null;
  createdAt: string;
  endedAt: string | null;
};

export type LessonImports = { imports: LessonImport[] };

export type LessonPage = {
  lessons: ListedLesson[];
  /** The cursor of the next page; null on the last. */
  nextCursor: string | null;
};

export type LessonStatistics = {
  lessonId: string;
  versionId: string;
  /** When the learners were counted. */
  computedAt: string;
  /** Null for fewer than 5 learners, unless the key has the scope `learners`. */
  statistics: {
    learners: { total: number; notStarted: number; inProgress: number; completed: number };
    /** Ten ranges; 100 % is in the last one. */
    scores: { fromPercent: number; toPercent: number; learners: number }[];
    /** The steps in playing order. */
    steps: {
      stepId: string;
      /** Learners who have reached the step or a later one. */
      reached: number;
      share: number;
      /** The median time for which learners were active on the step, rounded by up to 5 %. Null for fewer than 5 learners with such a time, unless the key has the scope `learners`; null if none has one. */
      medianSeconds: number | null;
    }[];
    /** Null for fewer than 5 such learners, unless the key has the scope `learners`. */
    items: {
      /** Learners whose current attempt is finished: only they count here. */
      learners: number;
      cronbachAlpha: number | null;
      questions: {
        stepId: string;
        widgetId: string;
        widgetType: string;
        learners: number;
        maxScore: number;
        /** The mean points, as a percentage of `maxScore`. */
        facility: number;
        /** Of the points; null for one learner. */
        standardDeviation: number | null;
        /** The correlation of the points here and in the other questions, as a percentage. */
        discrimination: number | null;
        /** Their covariance, as a percentage of the largest that these points allow. */
        efficiency: number | null;
        flags: ('too_easy' | 'too_hard' | 'weak_discrimination' | 'negative_discrimination')[];
        /** Null for a question without choices. */
        choices:
          | {
              /** As in the lesson; `true` or `false` of a `TrueFalse`. */
              id: string;
              isCorrect: boolean;
              learners: number;
              share: number;
              /** The mean points, in all questions, of those who took it. */
              meanTotal: number | null;
              /** The correlation of the choice and the points in the other questions, from -1 to 1. */
              pointBiserial: number | null;
              flags: ('rarely_picked' | 'better_than_right_answer')[];
            }[]
          | null;
      }[];
    } | null;
  } | null;
};

export type LessonUses = {
  learners: {
    days: 30;
    active: number;
    /** Whether there are more: the count ends there. */
    isMore: boolean;
  };
  /** Those with most links first, at most 100. */
  platforms: {
    platformId: string;
    name: string | null;
    /** Null for a platform that was removed. */
    issuer: string | null;
    /** Links in courses that launched the lesson. */
    links: number;
    lastLaunchAt: string;
  }[];
};

export type LessonVersions = {
  versions: {
    id: string;
    versionNumber: number;
    status: 'draft' | 'published' | 'unpublished';
    /** Null for a version that was never published. */
    publishedAt: string | null;
    /** The format that it was imported from, such as `h5p`; null without a report. */
    convertedFrom: string | null;
  }[];
};

/** A learner with a record of the lesson, without state. */
export type ListedLearner =
  | {
      source: 'embed';
      /** As in the embed token. */
      learnerId: string;
      /** The status never goes back. */
      status: 'not_started' | 'in_progress' | 'completed';
      /** Points earned; null until the learner answers a scored question. */
      score: number | null;
      /** Points that could be earned; null when nothing is scored. */
      maxScore: number | null;
      /** The share of `maxScore`, out of 100; null until the learner answers a scored question. */
      percent: number | null;
      /** The first activity; null while not started. */
      startedAt: string | null;
      /** When the lesson was first completed; never changes. */
      completedAt: string | null;
      /** The latest activity. */
      lastActivityAt: string;
      /** The version of the learner's last write. */
      versionId: string;
    }
  | {
      source: 'lti';
      ltiUserId: string;
      platformId: string;
      /** Null for a launch outside a course. */
      contextId: string | null;
      /** The status never goes back. */
      status: 'not_started' | 'in_progress' | 'completed';
      /** Out of 100; null until the learner answers a scored question. */
      score: number | null;
      /** 100; null when nothing is scored. */
      maxScore: number | null;
      /** The share of `maxScore`, out of 100; null until the learner answers a scored question. */
      percent: number | null;
      /** The first activity; null while not started. */
      startedAt: string | null;
      /** When the lesson was first completed; never changes. */
      completedAt: string | null;
      /** The latest activity. */
      lastActivityAt: string;
      /** The version of the learner's last write. */
      versionId: string;
    };

export type ListedLesson = {
  id: string;
  slug: string;
  title: string;
  status: 'draft' | 'published' | 'unpublished';
  /** The published version with the latest publication. */
  latestVersion: { id: string; versionNumber: number; publishedAt: string } | null;
  totalSections: number;
  totalSteps: number;
  updatedAt: string;
};

export type LtiGrade = {
  id: string;
  platformId: string;
  lessonId: string;
  contextId: string | null;
  ltiUserId: string;
  /** `waiting` to be sent, `failed` and not retried, or `idle`: the platform has what it should have. */
  state: 'idle' | 'waiting' | 'failed';
  /** What the platform should have; null until the lesson is finished. */
  wanted: { scoreGiven: number; scoreMaximum: number; finishedAt: string } | null;
  /** What it accepted last. */
  sent: { scoreGiven: number; scoreMaximum: number; finishedAt: string; at: string } | null;
  tries: number;
  nextTryAt: string | null;
  failure: {
    at: string;
    since: string;
    /** docs/lti/troubleshooting.md has the remedy for each. */
    reason: string;
    status: number | null;
    /** The beginning of the platform’s response. */
    body: string | null;
  } | null;
  createdAt: string;
};

export type LtiPlatform = {
  /** The `platformId` of progress and grades. */
  id: string;
  name: string | null;
  /** `pending` until it is approved. */
  status: 'active' | 'pending';
  issuer: string;
  clientId: string;
  /** The deployments whose launches are accepted. */
  deploymentIds: string[];
  /** Whether those of all deployments are. */
  anyDeployment: boolean;
  /** Deployments whose launches were rejected, for approval; the newest last. */
  unknownDeployments: string[];
  authUrl: string;
  tokenUrl: string;
  jwksUrl: string;
  tokenAudience: string | null;
  /** The keys with which Lectern signs for this platform. */
  keySetUrl: string;
  /** Whether tokens, audience and keys are on one site. If not, check that all are this platform’s. */
  onOneSite: boolean;
  createdAt: string;
  /** The last accepted launch, accurate to a minute. */
  lastLaunchAt: string | null;
  /** The last 20 rejected launches, the newest last; docs/lti/troubleshooting.md has the codes. */
  launchFaults: { code: string; at: string }[];
};

/** Progress of one LTI user in one lesson, as launched from one course of a platform. */
export type LtiProgress = {
  lessonId: string;
  ltiUserId: string;
  platformId: string;
  /** Null for a launch outside a course. */
  contextId: string | null;
  /** Lectern's own id of the platform's course. */
  courseId: string;
  /** The status never goes back. */
  status: 'not_started' | 'in_progress' | 'completed';
  /** Out of 100; null until the learner answers a scored question. */
  score: number | null;
  /** 100; null when nothing is scored. */
  maxScore: number | null;
  /** Zero-based. */
  currentSectionIndex: number;
  /** Zero-based, inside the section. */
  currentStepIndex: number;
  /** State for resuming, as the player stored it. */
  progressData: Record<string, unknown> | null;
  /** Values of the lesson variables, as the player stored them. */
  variableState: Record<string, unknown> | null;
  /** The first activity; null while not started. */
  startedAt: string | null;
  /** When the lesson was first completed; never changes. */
  completedAt: string | null;
  /** The latest activity. */
  lastActivityAt: string;
};

export type LtiRegistration = {
  id: string;
  status: 'open' | 'used' | 'expired';
  createdAt: string;
  expiresAt: string;
  /** The platform that registered with it. */
  platformId: string | null;
  keySetId: string;
  keySetUrl: string;
};

export type MediaFile = {
  /** Drafts refer to the file as `media:<id>`. */
  id: string;
  kind: 'image' | 'video' | 'audio' | 'captions' | 'other';
  name: string;
  mimeType: string;
  /** Bytes. */
  size: number;
  /** Of an uploaded picture, in pixels. */
  width: number | null;
  height: number | null;
  /** What a picture shows: a suggestion for new blocks. */
  alt: string;
  /** Who made it. Learners see credit and license. */
  credit: string;
  creditUrl: string;
  license: string;
  /** A signed URL of the bytes, valid for an hour. No script in them runs. */
  url: string;
  createdAt: string;
};

export type MediaFiles = { files: MediaFile[]; nextCursor: string | null };

export type NewLesson = {
  lessonId: string;
  versionId: string;
  versionNumber: number;
  slug: string;
  title: string;
};

export type Organization = {
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
};

export type OrganizationStorage = {
  /** The bytes of media, widgets and contents of all versions, also of deleted lessons. */
  storedBytes: number;
  /** How many it may store; null for any number. */
  maxBytes: number | null;
};

export type PingEventData = { organizationId: string; webhookId: string };

export type PreviewLink = {
  lessonId: string;
  versionId: string;
  versionNumber: number;
  /** Plays the version and records nothing. The URL is the credential. */
  url: string;
  expiresAt: string;
};

export type ProgressEventData =
  | {
      source: 'embed';
      /** The learnerId of the embed token. */
      learnerId: string;
      organizationId: string;
      lessonId: string;
      versionId: string;
      /** Increases with each write to this learner’s record. Events may arrive in any order: ignore one whose revision is not greater than the last one. */
      revision: number;
      /** Increases when the learner restarts the lesson. */
      attempt: number;
      status: 'not_started' | 'in_progress' | 'completed';
      /** Points; for LTI, out of 100. Null before a scored answer. */
      score: number | null;
      maxScore: number | null;
      /** When the learner first finished the lesson. */
      completedAt: string | null;
    }
  | {
      source: 'lti';
      ltiUserId: string;
      platformId: string;
      contextId: string | null;
      organizationId: string;
      lessonId: string;
      versionId: string;
      /** Increases with each write to this learner’s record. Events may arrive in any order: ignore one whose revision is not greater than the last one. */
      revision: number;
      /** Increases when the learner restarts the lesson. */
      attempt: number;
      status: 'not_started' | 'in_progress' | 'completed';
      /** Points; for LTI, out of 100. Null before a scored answer. */
      score: number | null;
      maxScore: number | null;
      /** When the learner first finished the lesson. */
      completedAt: string | null;
    };

/** A learner's last answer to one widget. */
export type ProgressItem = {
  /** Id of the block that was answered. */
  widgetId: string;
  widgetType: string;
  stepId: string;
  /** Any JSON value, as the player sent it. */
  answer: unknown;
  /** Points earned; null for an answer that is not scored. */
  score: number | null;
  /** Points that could be earned; null for an answer that is not scored. */
  maxScore: number | null;
  answeredAt: string;
  /** The number of tries in this attempt; missing for 1, and 0 while all answers were empty. */
  tries?: number;
};

export type PublicationEventData = {
  organizationId: string;
  lessonId: string;
  versionId: string;
  versionNumber: number;
};

export type PublishedVersion = {
  lessonId: string;
  versionId: string;
  versionNumber: number;
  slug: string;
  status: 'draft' | 'published' | 'unpublished';
  publishedAt: string | null;
  /** One sentence for each missing part or mistake. */
  warnings: string[];
};

export type RecentExport = {
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

export type ReplayedDeliveries = { count: number };

export type Retention = {
  days: {
    progress: number | null;
    ltiProgress: number | null;
    grades: number | null;
    deliveries: number | null;
  };
  /** Null while all kinds are off. */
  nextRunAt: string | null;
};

export type RetentionDryRun = {
  wouldRemove: {
    /** Progress records of an integrator’s learner. */
    progress: number;
    /** Progress records of a user of an LTI platform. */
    ltiProgress: number;
    /** Grades for the platform’s gradebook, sent or waiting. */
    grades: number;
    /** Webhook events and xAPI statements, sent or waiting, with the responses to them. */
    deliveries: number;
  };
};

export type RotatedSecret = {
  id: string;
  /** Signs deliveries (Standard Webhooks). Store it: no other response shows it. */
  secret: string;
  /** Until then, both secrets sign each delivery. */
  previousSecretExpiresAt: string;
};

export type SavedPart = {
  /** Counts the saves of this part. */
  revision: number;
  savedAt: string;
  /** The author: an API key by its public key, or a user by id. */
  savedBy: { type: 'key' | 'user'; id: string };
};

export type SignedToken = {
  /** A JWT, for the `token` parameter of the player endpoints. */
  token: string;
  /** When the token expires. */
  expiresAt: string;
};

/** Parts that are null are Lectern's own. */
export type Theme = {
  color: string | null;
  scheme: 'light' | 'dark' | 'auto' | null;
  font: 'system' | 'serif' | 'humanist' | 'geometric' | 'rounded' | 'slab' | null;
  fontFile: {
    /** A signed URL of the file, valid for an hour. */
    url: string;
    size: number;
    mimeType: string;
  } | null;
  radius: number | null;
  logo: {
    /** A signed URL of the file, valid for an hour. */
    url: string;
    size: number;
    mimeType: string;
  } | null;
  logoAlt: string | null;
};

export type UsedMediaFile = {
  /** Drafts refer to the file as `media:<id>`. */
  id: string;
  kind: 'image' | 'video' | 'audio' | 'captions' | 'other';
  name: string;
  mimeType: string;
  /** Bytes. */
  size: number;
  /** Of an uploaded picture, in pixels. */
  width: number | null;
  height: number | null;
  /** What a picture shows: a suggestion for new blocks. */
  alt: string;
  /** Who made it. Learners see credit and license. */
  credit: string;
  creditUrl: string;
  license: string;
  /** A signed URL of the bytes, valid for an hour. No script in them runs. */
  url: string;
  createdAt: string;
  uses: {
    /** At most 50. */
    lessons: {
      lessonId: string;
      title: string;
      /** The newest version that has the file. */
      version: {
        id: string;
        number: number;
        places: { stepId: string; stepTitle: string; block: { id: string; type: string } | null }[];
      } | null;
      /** The steps of the draft that refer to it; null among them stands for the skeleton. */
      draftSteps: (string | null)[] | null;
    }[];
    isComplete: boolean;
  };
};

export type User = {
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
};

export type UserInvitation = {
  /** For `POST /api/invitation/accept`. It is shown only once. */
  token: string;
  /** The page that sets the password, for the user alone. */
  url: string;
  expiresAt: string;
};

export type VersionChange = {
  kind: 'lesson' | 'section' | 'step' | 'block';
  /** `added` or `removed` alone, otherwise `moved`, `changed` or both. */
  changes: ('added' | 'removed' | 'moved' | 'changed')[];
  section: {
    id: string;
    title: string;
    /** Its place in its section or lesson. */
    number: number;
  } | null;
  step: {
    id: string;
    title: string;
    /** Its place in its section or lesson. */
    number: number;
  } | null;
  block: {
    id: string;
    type: string;
    /** The beginning of its text, without markup. */
    text: string;
  } | null;
  /** Where it was, if in another section or step. */
  from: {
    section: {
      id: string;
      title: string;
      /** Its place in its section or lesson. */
      number: number;
    };
    step: {
      id: string;
      title: string;
      /** Its place in its section or lesson. */
      number: number;
    } | null;
  } | null;
  /** Its earlier id, if another one. Answers of learners are kept by id. */
  formerId: string | null;
  values: {
    /** A setting of the lesson, or a prop of the block: `choices[b].html`. */
    path: string;
    /** A text, or JSON; null if missing. */
    before: string | null;
    after: string | null;
    /** Whether a text has more than 4000 characters. */
    isCut: boolean;
  }[];
};

export type VersionChanges = {
  lessonId: string;
  before: { versionId: string; versionNumber: number };
  after: { versionId: string; versionNumber: number };
  summary: {
    /** Changed settings of the lesson. */
    settings: number;
    sections: { added: number; removed: number; moved: number; changed: number };
    steps: { added: number; removed: number; moved: number; changed: number };
    blocks: { added: number; removed: number; moved: number; changed: number };
    media: { added: number; removed: number; replaced: number };
  };
  /** In the order of the lesson, at most 500. */
  changes: VersionChange[];
  /** Media files, compared by digest, at most 500. */
  media: { id: string; change: 'added' | 'removed' | 'replaced'; mimeType: string }[];
  /** False if there are more changes. The summary counts all of them. */
  isComplete: boolean;
};

export type VersionCheck = {
  lessonId: string;
  versionId: string;
  versionNumber: number;
  playability: {
    valid: boolean;
    errors: {
      code: 'no_sections' | 'empty_section' | 'empty_step' | 'block_without_type';
      /** For people. */
      message: string;
      sectionId?: string;
      stepId?: string;
    }[];
  };
  /** Missing parts and probable mistakes. */
  warnings: {
    message: string;
    /** The block, or the first of several; null for the lesson as a whole. */
    place: {
      section: { id: string; title: string };
      step: { id: string; title: string };
      block: {
        id: string;
        type: string;
        /** The beginning of its text, without markup. */
        text: string;
      };
    } | null;
  }[];
  /** Media that are downloaded when the version is exported or played. */
  externalMedia: { id: string; sourceUrl: string }[];
};

export type Webhook = {
  id: string;
  url: string;
  events: (
    | 'progress.started'
    | 'progress.updated'
    | 'progress.scored'
    | 'progress.completed'
    | 'lesson.published'
    | 'lesson.unpublished'
    | 'export.ready'
    | 'export.failed'
    | 'lti.grade.failed'
    | 'learner.erased'
    | 'webhook.disabled'
    | 'xapi.paused'
  )[];
  description: string;
  status: 'active' | 'disabled';
  /** Why the webhook is disabled: its owner disabled it, its receiver returned 410 (`gone`), or it failed for three days (`failing`). Missing for an active webhook. */
  disabledReason?: 'owner' | 'gone' | 'failing';
  /** Since when every attempt has failed. Missing after a success. */
  failingSince?: string;
  /** When events were last not recorded, because too many deliveries of the organization waited. `until` is null while that lasts. Missing if it never happened. */
  missedEvents?: { since: string; until: string | null };
  createdAt: string;
};

export type WebhookDelivery = {
  /** The `webhook-id` of each attempt. */
  id: string;
  type: string;
  status: 'pending' | 'delivered' | 'failed' | 'dismissed';
  /** The last 20 attempts, the oldest first. */
  attempts: {
    at: string;
    milliseconds: number;
    /** The status of the response; null without one. */
    status: number | null;
    /** Why it failed; null after a success. */
    error: string | null;
    /** The first 4 kB of the response; null without one. */
    response: string | null;
  }[];
};

export type WebhookDeliveryPage = {
  deliveries: WebhookDelivery[];
  /** The cursor of the next page; null on the last. */
  nextCursor: string | null;
};

export type WebhookDisabledEventData = {
  organizationId: string;
  webhookId: string;
  url: string;
  reason: 'gone' | 'failing';
};

export type WebhookList = { webhooks: Webhook[] };

export type XapiDestination = {
  id: string;
  endpoint: string;
  username: string;
  version: '1.0.3' | '2.0.0';
  verbs: ('initialized' | 'progressed' | 'answered' | 'completed' | 'passed' | 'failed' | 'terminated')[];
  pseudonyms: boolean;
  passingScore: number | null;
  status: 'active' | 'paused';
  /** When events were last not recorded, because too many deliveries of the organization waited. `until` is null while that lasts. Missing if it never happened. */
  missedEvents?: { since: string; until: string | null };
  /** Why the destination is paused: `owner`, the status with which the LRS rejected Lectern, or `no_statement_ids` if a success had no ids of statements, such as a web page. */
  pausedReason?: string;
  createdAt: string;
};

export type XapiDestinationList = { destinations: XapiDestination[] };

export type XapiDestinationTest = {
  /** `ok`; `unsure` if the credentials may not read statements: they may still send some; or `failed`. */
  result: 'ok' | 'unsure' | 'failed';
  /** Of the response; null without one. */
  status: number | null;
  /** For people. */
  message: string;
};

export type XapiPausedEventData = {
  organizationId: string;
  destinationId: string;
  endpoint: string;
  /** Of the response: 401 or 403 for the credentials, for example; 400 after ten rejected statements in a row; 200 for a response without ids of statements, such as a web page. */
  httpStatus: number;
};

/** What each endpoint takes and returns. */
export interface Routes {
  /** Sign an embed token */
  'POST /api/public/sign-token': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: {
      /** The lesson to include. */
      lessonId: string;
      /** The published version to pin. Without it, the newest published one is played at each load. */
      versionId?: string;
      /** Your anonymous identifier for the learner: 1 to 255 characters, no control characters, no personally identifying data. Progress is kept under it. Avoid `.` and `..`: most clients resolve them in paths. */
      learnerId: string;
      /** Any JSON object of at most 8192 bytes, without personally identifying data. */
      userAttributes?: Record<string, unknown>;
      /** Seconds until the token expires. */
      timeout?: number;
    };
    result: SignedToken;
  };
  /** Read a learner's progress */
  'GET /api/public/lessons/{lessonId}/progress/{learnerId}': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
      /** The learnerId of the embed tokens, percent-encoded where necessary. */
      learnerId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: EmbedProgress;
  };
  /** Read an LTI user's progress */
  'GET /api/public/lessons/{lessonId}/lti-progress/{ltiUserId}': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
      /** The platform's id for the user, from the launch, percent-encoded where necessary. */
      ltiUserId: string;
    };
    query: {
      /** Lectern's id of the platform. Case is ignored. */
      platformId: string;
      /** The platform's id for the course. Without it, the record with the latest activity is returned. */
      contextId?: string;
    };
    body: undefined;
    result: LtiProgress;
  };
  /** Invite a user again */
  'POST /api/users/{userId}/invitation': {
    params: {
      /** Id of the user. */
      userId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: UserInvitation;
  };
  /** Read a user */
  'GET /api/users/{userId}': {
    params: {
      /** Id of the user. */
      userId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: User;
  };
  /** Change a user */
  'PATCH /api/users/{userId}': {
    params: {
      /** Id of the user. */
      userId: string;
    };
    query: Record<never, never>;
    body: {
      role?: 'teacher' | 'author' | 'admin';
      /** `disabled` rejects the user's logins and ends the user's sessions for good. */
      status?: 'active' | 'disabled';
      /** Turns off two-step login, for a user who has lost the device and the recovery codes. */
      twoStep?: 'off';
    };
    result: User;
  };
  /** Delete a user */
  'DELETE /api/users/{userId}': {
    params: {
      /** Id of the user. */
      userId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: undefined;
  };
  /** Invite a user */
  'POST /api/users': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: {
      /** Unique in the whole installation. */
      email: string;
      role: 'teacher' | 'author' | 'admin';
    };
    result: InvitedUser;
  };
  /** List users */
  'GET /api/users': {
    params: Record<never, never>;
    query: {
      /** The maximum number of users on a page. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: {
      users: User[];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
    };
  };
  /** Rotate an API key */
  'POST /api/keys/{publicKey}/rotate': {
    params: {
      /** The public key. */
      publicKey: string;
    };
    query: Record<never, never>;
    body: {
      /** How long the old key stays valid. */
      overlapHours?: number;
    };
    result: CreatedApiKey;
  };
  /** Revoke an API key */
  'DELETE /api/keys/{publicKey}': {
    params: {
      /** The public key. */
      publicKey: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: undefined;
  };
  /** Create an API key */
  'POST /api/keys': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: {
      /** The purpose of the key. */
      label?: string | null;
      /** What the key may do; null for everything. */
      scopes?:
        | (
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
          )[]
        | null;
      /** By default, the organization's expiry of new keys; null for never. */
      expiresAt?: string | null;
      /** IP addresses, or ranges in CIDR notation, from which the key is valid. */
      allowedAddresses?: string[] | null;
    };
    result: CreatedApiKey;
  };
  /** List API keys */
  'GET /api/keys': {
    params: Record<never, never>;
    query: {
      /** The maximum number of keys on a page. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: {
      keys: ApiKey[];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
    };
  };
  /** Read the organization */
  'GET /api/organization': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    result: Organization;
  };
  /** Change the organization */
  'PATCH /api/organization': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: {
      name?: string;
      /** The origins whose pages may embed lessons; none for any. */
      allowedOrigins?: string[];
      externalVideos?: boolean;
      keyDays?: number | null;
    };
    result: Organization;
  };
  /** Read how much the organization stores */
  'GET /api/organization/storage': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    result: OrganizationStorage;
  };
  /** Read the look of the organization's lessons */
  'GET /api/organization/theme': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    result: Theme;
  };
  /** Change the look of the organization's lessons */
  'PATCH /api/organization/theme': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: {
      color?: string | null;
      scheme?: 'light' | 'dark' | 'auto' | null;
      /** Replaces `fontFile`. */
      font?: 'system' | 'serif' | 'humanist' | 'geometric' | 'rounded' | 'slab' | null;
      /** The bytes of a file in Base64. `docs/theme.md` has types and sizes. */
      fontFile?: string | null;
      radius?: number | null;
      /** The bytes of a file in Base64. `docs/theme.md` has types and sizes. */
      logo?: string | null;
      /** What screen readers read for the logo; by default the organization's name. */
      logoAlt?: string | null;
    };
    result: Theme;
  };
  /** Read a learning platform */
  'GET /api/platforms/{platformId}': {
    params: {
      /** Id of the platform. */
      platformId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: LtiPlatform;
  };
  /** Approve or change a learning platform */
  'PATCH /api/platforms/{platformId}': {
    params: {
      /** Id of the platform. */
      platformId: string;
    };
    query: Record<never, never>;
    body: {
      name?: string | null;
      /** Approves a platform that registered itself. */
      status?: 'active';
      addDeploymentIds?: string[];
      anyDeployment?: boolean;
      authUrl?: string;
      tokenUrl?: string;
      jwksUrl?: string;
      /** The `aud` of token requests; null for the token endpoint. */
      tokenAudience?: string | null;
    };
    result: LtiPlatform;
  };
  /** Remove a learning platform */
  'DELETE /api/platforms/{platformId}': {
    params: {
      /** Id of the platform. */
      platformId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: undefined;
  };
  /** Connect a learning platform by hand */
  'POST /api/platforms': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: {
      name?: string | null;
      /** The `iss` of its messages, exactly as it sends it. */
      issuer: string;
      /** The client id that it gave to Lectern. */
      clientId: string;
      deploymentIds?: string[];
      /** Its OIDC authorization endpoint. */
      authUrl: string;
      /** Its token endpoint. */
      tokenUrl: string;
      /** Its key set (JWKS). */
      jwksUrl: string;
      /** The `aud` of token requests; null for the token endpoint. */
      tokenAudience?: string | null;
      /** The key set that it has, of an open registration. */
      keySetId?: string;
    };
    result: LtiPlatform;
  };
  /** List learning platforms */
  'GET /api/platforms': {
    params: Record<never, never>;
    query: {
      /** The maximum number of platforms on a page. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: {
      platforms: LtiPlatform[];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
    };
  };
  /** Revoke a registration link */
  'DELETE /api/platform-registrations/{registrationId}': {
    params: {
      /** Id of the registration. */
      registrationId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: undefined;
  };
  /** Create a registration link */
  'POST /api/platform-registrations': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    result: CreatedLtiRegistration;
  };
  /** List registration links */
  'GET /api/platform-registrations': {
    params: Record<never, never>;
    query: {
      /** The maximum number of registrations on a page. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: {
      registrations: LtiRegistration[];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
    };
  };
  /** Send grades again */
  'POST /api/grades/resend': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: {
      ids?: string[];
      /** All failed grades; at most 10,000 with one request. */
      failed?: true;
      /** With `failed`: of this platform only. */
      platformId?: string;
    };
    result: ChangedLtiGrades;
  };
  /** Dismiss failed grades */
  'POST /api/grades/dismiss': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: {
      ids?: string[];
      /** All failed grades; at most 10,000 with one request. */
      failed?: true;
      /** With `failed`: of this platform only. */
      platformId?: string;
    };
    result: ChangedLtiGrades;
  };
  /** List grades for learning platforms */
  'GET /api/grades': {
    params: Record<never, never>;
    query: {
      /** Only those for this platform. */
      platformId?: string;
      /** Only those in this state. */
      state?: 'idle' | 'waiting' | 'failed';
      /** Only those of this lesson. */
      lessonId?: string;
      /** Only those of this user of a platform. */
      ltiUserId?: string;
      /** The maximum number of grades on a page. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: {
      grades: LtiGrade[];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
    };
  };
  /** List the versions of a lesson */
  'GET /api/lessons/{lessonId}/versions': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: LessonVersions;
  };
  /** Read where a lesson is used */
  'GET /api/lessons/{lessonId}/uses': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: LessonUses;
  };
  /** Compare two versions */
  'GET /api/lessons/{lessonId}/versions/{versionId}/changes': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
      /** Id of the version. */
      versionId: string;
    };
    query: {
      /** Id of the earlier version. */
      since: string;
    };
    body: undefined;
    result: VersionChanges;
  };
  /** Read what became of a file in another format */
  'GET /api/lessons/{lessonId}/versions/{versionId}/conversion-report': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
      /** Id of the version. */
      versionId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: ConversionReport;
  };
  /** Copy a version */
  'POST /api/lessons/{lessonId}/versions/{versionId}/copies': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
      /** Id of the version. */
      versionId: string;
    };
    query: Record<never, never>;
    body: { title: string };
    result: NewLesson;
  };
  /** List a lesson's learners */
  'GET /api/lessons/{lessonId}/learners': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
    };
    query: {
      /** Only learners with this status. */
      status?: 'not_started' | 'in_progress' | 'completed';
      /** Only learners whose last activity is at or after this time. */
      since?: string;
      /** Only learners whose last write was in this version. */
      version?: string;
      /** Only learners of embedded lessons, or only users of LTI platforms. */
      source?: 'embed' | 'lti';
      /** Only users of this LTI platform: Lectern's id of it. */
      platform?: string;
      /** The order of the last activity. With `oldest` first, no learner is missed who is active while you read; such a learner may be listed twice. */
      order?: 'oldest' | 'newest';
      /** The maximum number of learners. By default 100 in JSON, and all in CSV and NDJSON. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: LearnerPage;
  };
  /** Download a lesson's learners as CSV */
  'GET /api/lessons/{lessonId}/learners.csv': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
    };
    query: {
      /** Only learners with this status. */
      status?: 'not_started' | 'in_progress' | 'completed';
      /** Only learners whose last activity is at or after this time. */
      since?: string;
      /** Only learners whose last write was in this version. */
      version?: string;
      /** Only learners of embedded lessons, or only users of LTI platforms. */
      source?: 'embed' | 'lti';
      /** Only users of this LTI platform: Lectern's id of it. */
      platform?: string;
      /** The order of the last activity. With `oldest` first, no learner is missed who is active while you read; such a learner may be listed twice. */
      order?: 'oldest' | 'newest';
      /** The maximum number of learners. By default 100 in JSON, and all in CSV and NDJSON. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: undefined;
  };
  /** Download a lesson's learners as NDJSON */
  'GET /api/lessons/{lessonId}/learners.ndjson': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
    };
    query: {
      /** Only learners with this status. */
      status?: 'not_started' | 'in_progress' | 'completed';
      /** Only learners whose last activity is at or after this time. */
      since?: string;
      /** Only learners whose last write was in this version. */
      version?: string;
      /** Only learners of embedded lessons, or only users of LTI platforms. */
      source?: 'embed' | 'lti';
      /** Only users of this LTI platform: Lectern's id of it. */
      platform?: string;
      /** The order of the last activity. With `oldest` first, no learner is missed who is active while you read; such a learner may be listed twice. */
      order?: 'oldest' | 'newest';
      /** The maximum number of learners. By default 100 in JSON, and all in CSV and NDJSON. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: undefined;
  };
  /** Download learners' answers as CSV */
  'GET /api/lessons/{lessonId}/answers.csv': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
    };
    query: {
      /** Only learners with this status. */
      status?: 'not_started' | 'in_progress' | 'completed';
      /** Only learners whose last activity is at or after this time. */
      since?: string;
      /** Only learners whose last write was in this version. */
      version?: string;
      /** Only learners of embedded lessons, or only users of LTI platforms. */
      source?: 'embed' | 'lti';
      /** Only users of this LTI platform: Lectern's id of it. */
      platform?: string;
      /** The order of the last activity. With `oldest` first, no learner is missed who is active while you read; such a learner may be listed twice. */
      order?: 'oldest' | 'newest';
      /** The maximum number of learners. By default 100 in JSON, and all in CSV and NDJSON. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: undefined;
  };
  /** Get a lesson's statistics */
  'GET /api/lessons/{lessonId}/statistics': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
    };
    query: {
      /** The version; by default the one that was published last. */
      version?: string;
    };
    body: undefined;
    result: LessonStatistics | { status: 'pending' };
  };
  /** Download a published version */
  'GET /api/lessons/{lessonId}/versions/{versionId}/export-zip': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
      /** Id of the version. */
      versionId: string;
    };
    query: {
      /** `player`: the archive also holds the player, and plays when its index.html is opened. Any other value gets 400. */
      include?: 'player';
      /** `scorm12`: a SCORM 1.2 package. `scorm2004`: a SCORM 2004 package (4th edition). `cmi5`: a cmi5 package. `cartridge`: a thin Common Cartridge, with an LTI link to the lesson and no content. Any other value gets 400. */
      format?: 'scorm12' | 'scorm2004' | 'cmi5' | 'cartridge';
      /** With a `format`: the score that passes, in percent. Without it, the score decides nothing. */
      passMark?: string;
      /** With a `format`: a learner completes the lesson when every step was on the page (`allSteps`, the default), on finishing the last step (`finish`), or with the pass mark (`passed`). */
      completion?: 'allSteps' | 'finish' | 'passed';
      /** With a `format`: the defaults for a learning platform. */
      preset?: 'moodle' | 'canvas' | 'blackboard' | 'brightspace' | 'sap' | 'openedx' | 'cornerstone';
    };
    body: undefined;
    result: ExportStatus;
  };
  /** List the files of a published version */
  'GET /api/lessons/{lessonId}/versions/{versionId}/export-manifest': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
      /** Id of the version. */
      versionId: string;
    };
    query: {
      /** `player`: the archive also holds the player, and plays when its index.html is opened. Any other value gets 400. */
      include?: 'player';
      /** `scorm12`: a SCORM 1.2 package. `scorm2004`: a SCORM 2004 package (4th edition). `cmi5`: a cmi5 package. `cartridge`: a thin Common Cartridge, with an LTI link to the lesson and no content. Any other value gets 400. */
      format?: 'scorm12' | 'scorm2004' | 'cmi5' | 'cartridge';
      /** With a `format`: the score that passes, in percent. Without it, the score decides nothing. */
      passMark?: string;
      /** With a `format`: a learner completes the lesson when every step was on the page (`allSteps`, the default), on finishing the last step (`finish`), or with the pass mark (`passed`). */
      completion?: 'allSteps' | 'finish' | 'passed';
      /** With a `format`: the defaults for a learning platform. */
      preset?: 'moodle' | 'canvas' | 'blackboard' | 'brightspace' | 'sap' | 'openedx' | 'cornerstone';
    };
    body: undefined;
    result: ExportManifest | ExportStatus;
  };
  /** Read the status of an export */
  'GET /api/lessons/{lessonId}/versions/{versionId}/export-status': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
      /** Id of the version. */
      versionId: string;
    };
    query: {
      /** `player`: the archive also holds the player, and plays when its index.html is opened. Any other value gets 400. */
      include?: 'player';
      /** `scorm12`: a SCORM 1.2 package. `scorm2004`: a SCORM 2004 package (4th edition). `cmi5`: a cmi5 package. `cartridge`: a thin Common Cartridge, with an LTI link to the lesson and no content. Any other value gets 400. */
      format?: 'scorm12' | 'scorm2004' | 'cmi5' | 'cartridge';
      /** With a `format`: the score that passes, in percent. Without it, the score decides nothing. */
      passMark?: string;
      /** With a `format`: a learner completes the lesson when every step was on the page (`allSteps`, the default), on finishing the last step (`finish`), or with the pass mark (`passed`). */
      completion?: 'allSteps' | 'finish' | 'passed';
      /** With a `format`: the defaults for a learning platform. */
      preset?: 'moodle' | 'canvas' | 'blackboard' | 'brightspace' | 'sap' | 'openedx' | 'cornerstone';
    };
    body: undefined;
    result: ExportStatus;
  };
  /** Cancel an export */
  'DELETE /api/lessons/{lessonId}/versions/{versionId}/export-status': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
      /** Id of the version. */
      versionId: string;
    };
    query: {
      /** `player`: the archive also holds the player, and plays when its index.html is opened. Any other value gets 400. */
      include?: 'player';
      /** `scorm12`: a SCORM 1.2 package. `scorm2004`: a SCORM 2004 package (4th edition). `cmi5`: a cmi5 package. `cartridge`: a thin Common Cartridge, with an LTI link to the lesson and no content. Any other value gets 400. */
      format?: 'scorm12' | 'scorm2004' | 'cmi5' | 'cartridge';
      /** With a `format`: the score that passes, in percent. Without it, the score decides nothing. */
      passMark?: string;
      /** With a `format`: a learner completes the lesson when every step was on the page (`allSteps`, the default), on finishing the last step (`finish`), or with the pass mark (`passed`). */
      completion?: 'allSteps' | 'finish' | 'passed';
      /** With a `format`: the defaults for a learning platform. */
      preset?: 'moodle' | 'canvas' | 'blackboard' | 'brightspace' | 'sap' | 'openedx' | 'cornerstone';
    };
    body: undefined;
    result: ExportStatus;
  };
  /** Build exports again */
  'POST /api/exports/retry': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: { ids: string[] };
    result: { changed: number };
  };
  /** Cancel exports */
  'POST /api/exports/cancel': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: { ids: string[] };
    result: { changed: number };
  };
  /** List exports */
  'GET /api/exports': {
    params: Record<never, never>;
    query: {
      /** Only exports with this status. */
      status?: 'queued' | 'building' | 'ready' | 'failed' | 'canceled';
      /** Only exports of this lesson. */
      lessonId?: string;
      /** The maximum number of exports on a page. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: {
      exports: RecentExport[];
      /** The `cursor` of the next page; null at the end. */
      nextCursor: string | null;
    };
  };
  /** Read the offset of an upload */
  'HEAD /api/lessons/imports/{importId}': {
    params: {
      /** Id of the import. */
      importId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: undefined;
  };
  /** Read an import */
  'GET /api/lessons/imports/{importId}': {
    params: {
      /** Id of the import. */
      importId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: LessonImport;
  };
  /** Send bytes of a package */
  'PATCH /api/lessons/imports/{importId}': {
    params: {
      /** Id of the import. */
      importId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: undefined;
  };
  /** Cancel an import */
  'DELETE /api/lessons/imports/{importId}': {
    params: {
      /** Id of the import. */
      importId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: LessonImport;
  };
  /** Begin an import */
  'POST /api/lessons/imports': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    result: LessonImport;
  };
  /** List imports */
  'GET /api/lessons/imports': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    result: LessonImports;
  };
  /** Read a lesson */
  'GET /api/lessons/{lessonId}': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: ListedLesson;
  };
  /** Delete a lesson */
  'DELETE /api/lessons/{lessonId}': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: undefined;
  };
  /** Publish a version */
  'POST /api/lessons/{lessonId}/versions/{versionId}/publish': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
      /** Id of the version. */
      versionId: string;
    };
    query: {
      /** Whether to publish a lesson that cannot be played yet. */
      force?: 'true' | 'false';
    };
    body: undefined;
    result: PublishedVersion;
  };
  /** Unpublish a version */
  'POST /api/lessons/{lessonId}/versions/{versionId}/unpublish': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
      /** Id of the version. */
      versionId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: PublishedVersion;
  };
  /** Check a version */
  'GET /api/lessons/{lessonId}/versions/{versionId}/check': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
      /** Id of the version. */
      versionId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: VersionCheck;
  };
  /** Create a preview link */
  'POST /api/lessons/{lessonId}/versions/{versionId}/preview-links': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
      /** Id of the version. */
      versionId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: PreviewLink;
  };
  /** Create a draft */
  'POST /api/lessons/{lessonId}/draft': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
    };
    query: Record<never, never>;
    body: {
      /** The version to begin with; by default the newest one. */
      versionId?: string;
    };
    result: LessonDraft;
  };
  /** Read a draft */
  'GET /api/lessons/{lessonId}/draft': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: LessonDraft;
  };
  /** Save the skeleton of a draft */
  'PUT /api/lessons/{lessonId}/draft': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
    };
    query: Record<never, never>;
    body: {
      /** The revision that the save builds on: 0 for a new step. */
      revision: number;
      skeleton: {
        lesson: { id?: string; title: string };
        sections: { id: string; title: string; steps: { id: string; title: string }[] }[];
      };
    };
    result: SavedPart;
  };
  /** Discard a draft */
  'DELETE /api/lessons/{lessonId}/draft': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: undefined;
  };
  /** Read a step of a draft */
  'GET /api/lessons/{lessonId}/draft/steps/{stepId}': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
      /** Id of the step. */
      stepId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: DraftStep;
  };
  /** Save a step of a draft */
  'PUT /api/lessons/{lessonId}/draft/steps/{stepId}': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
      /** Id of the step. */
      stepId: string;
    };
    query: Record<never, never>;
    body: {
      /** The revision that the save builds on: 0 for a new step. */
      revision: number;
      content: { content: unknown[] };
    };
    result: SavedPart;
  };
  /** Publish a draft */
  'POST /api/lessons/{lessonId}/draft/publish': {
    params: {
      /** Id of the lesson. */
      lessonId: string;
    };
    query: Record<never, never>;
    body: {
      /** Whether to publish the version, so that learners get it. */
      publish?: boolean;
      /** Whether to publish a lesson that cannot be played yet. */
      force?: boolean;
    };
    result: LessonImport;
  };
  /** Replace a file in drafts */
  'POST /api/media/{fileId}/replace': {
    params: {
      /** Id of the file. */
      fileId: string;
    };
    query: Record<never, never>;
    body: {
      /** The file to use instead. */
      by: string;
      lessonId?: string;
      stepId?: string;
    };
    result: {
      /** Changed steps and skeletons. */
      replaced: number;
      /** False: repeat the request. */
      isComplete: boolean;
    };
  };
  /** Read a file of the media library, and where it is used */
  'GET /api/media/{fileId}': {
    params: {
      /** Id of the file. */
      fileId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: UsedMediaFile;
  };
  /** Describe a file of the media library */
  'PATCH /api/media/{fileId}': {
    params: {
      /** Id of the file. */
      fileId: string;
    };
    query: Record<never, never>;
    body: { name?: string; alt?: string; credit?: string; creditUrl?: string; license?: string };
    result: MediaFile;
  };
  /** Delete a file of the media library */
  'DELETE /api/media/{fileId}': {
    params: {
      /** Id of the file. */
      fileId: string;
    };
    query: {
      /** Deletes it although drafts use it. */
      force?: 'true' | 'false';
    };
    body: undefined;
    result: undefined;
  };
  /** List the files of the media library */
  'GET /api/media': {
    params: Record<never, never>;
    query: {
      /** Files of this kind only. */
      kind?: 'image' | 'video' | 'audio' | 'captions' | 'other';
      /** Words in name, alt text, credit or license. */
      text?: string;
      /** The maximum number of files on a page. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: MediaFiles;
  };
  /** List lessons */
  'GET /api/lessons': {
    params: Record<never, never>;
    query: {
      /** Only lessons with this status. */
      status?: 'draft' | 'published' | 'unpublished';
      /** Only lessons whose title, or that of their published version, contains these words, in any case, with or without accents. */
      title?: string;
      /** The maximum number of lessons on a page. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: LessonPage;
  };
  /** Create a lesson */
  'POST /api/lessons': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: { title: string; language: string };
    result: NewLesson;
  };
  /** Send a ping to a webhook */
  'POST /api/webhooks/{webhookId}/test': {
    params: {
      /** Id of the webhook. */
      webhookId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: WebhookDelivery;
  };
  /** Rotate the secret of a webhook */
  'POST /api/webhooks/{webhookId}/rotate': {
    params: {
      /** Id of the webhook. */
      webhookId: string;
    };
    query: Record<never, never>;
    body: {
      /** How long the previous secret also signs. */
      overlapSeconds?: number;
    };
    result: RotatedSecret;
  };
  /** Send deliveries again */
  'POST /api/webhooks/{webhookId}/replay': {
    params: {
      /** Id of the webhook. */
      webhookId: string;
    };
    query: Record<never, never>;
    body: {
      /** Deliveries that were created at this time or later. */
      since: string;
      /** Only deliveries that were created before it. */
      until?: string;
      /** Only deliveries with this status; without it, all. */
      status?: 'pending' | 'delivered' | 'failed' | 'dismissed';
    };
    result: ReplayedDeliveries;
  };
  /** Send a delivery again */
  'POST /api/webhooks/{webhookId}/deliveries/{deliveryId}/resend': {
    params: {
      /** Id of the webhook. */
      webhookId: string;
      /** Id of the delivery. */
      deliveryId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: WebhookDelivery;
  };
  /** List the deliveries of a webhook */
  'GET /api/webhooks/{webhookId}/deliveries': {
    params: {
      /** Id of the webhook. */
      webhookId: string;
    };
    query: {
      /** Only deliveries with this status. */
      status?: 'pending' | 'delivered' | 'failed' | 'dismissed';
      /** The maximum number of deliveries on a page. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: WebhookDeliveryPage;
  };
  /** Read a webhook */
  'GET /api/webhooks/{webhookId}': {
    params: {
      /** Id of the webhook. */
      webhookId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: Webhook;
  };
  /** Change a webhook */
  'PATCH /api/webhooks/{webhookId}': {
    params: {
      /** Id of the webhook. */
      webhookId: string;
    };
    query: Record<never, never>;
    body: {
      /** An https URL. Its host must be public. */
      url?: string;
      /** The event types that it gets. */
      events?: (
        | 'progress.started'
        | 'progress.updated'
        | 'progress.scored'
        | 'progress.completed'
        | 'lesson.published'
        | 'lesson.unpublished'
        | 'export.ready'
        | 'export.failed'
        | 'lti.grade.failed'
        | 'learner.erased'
        | 'webhook.disabled'
        | 'xapi.paused'
      )[];
      /** A note about its purpose. */
      description?: string;
      /** `active` starts a disabled webhook again, even if Lectern disabled it. */
      status?: 'active' | 'disabled';
    };
    result: Webhook;
  };
  /** Delete a webhook */
  'DELETE /api/webhooks/{webhookId}': {
    params: {
      /** Id of the webhook. */
      webhookId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: undefined;
  };
  /** Create a webhook */
  'POST /api/webhooks': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: {
      /** An https URL. Its host must be public. */
      url: string;
      /** The event types that it gets. */
      events: (
        | 'progress.started'
        | 'progress.updated'
        | 'progress.scored'
        | 'progress.completed'
        | 'lesson.published'
        | 'lesson.unpublished'
        | 'export.ready'
        | 'export.failed'
        | 'lti.grade.failed'
        | 'learner.erased'
        | 'webhook.disabled'
        | 'xapi.paused'
      )[];
      /** A note about its purpose. */
      description?: string;
    };
    result: CreatedWebhook;
  };
  /** List webhooks */
  'GET /api/webhooks': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    result: WebhookList;
  };
  /** Test an xAPI destination */
  'POST /api/xapi-destinations/{destinationId}/test': {
    params: {
      /** Id of the destination. */
      destinationId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: XapiDestinationTest;
  };
  /** Send statements again */
  'POST /api/xapi-destinations/{destinationId}/replay': {
    params: {
      /** Id of the destination. */
      destinationId: string;
    };
    query: Record<never, never>;
    body: {
      /** Deliveries that were created at this time or later. */
      since: string;
      /** Only deliveries that were created before it. */
      until?: string;
      /** Only deliveries with this status; without it, all. */
      status?: 'pending' | 'delivered' | 'failed' | 'dismissed';
    };
    result: ReplayedDeliveries;
  };
  /** Read an xAPI destination */
  'GET /api/xapi-destinations/{destinationId}': {
    params: {
      /** Id of the destination. */
      destinationId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: XapiDestination;
  };
  /** Change an xAPI destination */
  'PATCH /api/xapi-destinations/{destinationId}': {
    params: {
      /** Id of the destination. */
      destinationId: string;
    };
    query: Record<never, never>;
    body: {
      /** The URL of the xAPI of the LRS, before `statements`. https, and its host must be public. */
      endpoint?: string;
      /** For HTTP Basic authentication. */
      username?: string;
      /** No response shows it. */
      password?: string;
      /** The xAPI version of the LRS. */
      version?: '1.0.3' | '2.0.0';
      /** The verbs of the statements to send. */
      verbs?: (
        | 'initialized'
        | 'progressed'
        | 'answered'
        | 'completed'
        | 'passed'
        | 'failed'
        | 'terminated'
      )[];
      /** Identifies learners by salted hashes instead of their ids. */
      pseudonyms?: boolean;
      /** The share of points from which a finished lesson is `passed`; null sends neither passed nor failed. */
      passingScore?: number | null;
      /** `active` resumes a paused destination, and sends the waiting statements. */
      status?: 'active' | 'paused';
    };
    result: XapiDestination;
  };
  /** Delete an xAPI destination */
  'DELETE /api/xapi-destinations/{destinationId}': {
    params: {
      /** Id of the destination. */
      destinationId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: undefined;
  };
  /** Create an xAPI destination */
  'POST /api/xapi-destinations': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: {
      /** The URL of the xAPI of the LRS, before `statements`. https, and its host must be public. */
      endpoint: string;
      /** For HTTP Basic authentication. */
      username: string;
      /** No response shows it. */
      password: string;
      /** The xAPI version of the LRS. */
      version?: '1.0.3' | '2.0.0';
      /** The verbs of the statements to send. */
      verbs?: (
        | 'initialized'
        | 'progressed'
        | 'answered'
        | 'completed'
        | 'passed'
        | 'failed'
        | 'terminated'
      )[];
      /** Identifies learners by salted hashes instead of their ids. */
      pseudonyms?: boolean;
      /** The share of points from which a finished lesson is `passed`; null sends neither passed nor failed. */
      passingScore?: number | null;
    };
    result: XapiDestination;
  };
  /** List xAPI destinations */
  'GET /api/xapi-destinations': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    result: XapiDestinationList;
  };
  /** Send a delivery again */
  'POST /api/deliveries/{deliveryId}/resend': {
    params: {
      /** Id of the delivery. */
      deliveryId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: Delivery;
  };
  /** Dismiss a delivery */
  'POST /api/deliveries/{deliveryId}/dismiss': {
    params: {
      /** Id of the delivery. */
      deliveryId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: Delivery;
  };
  /** List deliveries */
  'GET /api/deliveries': {
    params: Record<never, never>;
    query: {
      /** Only deliveries of this kind. */
      kind?: 'webhook' | 'xapi' | 'grade';
      /** Only deliveries to this webhook, xAPI destination or LTI platform. */
      targetId?: string;
      /** Only deliveries with this status. */
      status?: 'pending' | 'delivered' | 'failed' | 'dismissed';
      /** Only deliveries about this lesson. */
      lessonId?: string;
      /** Only deliveries about this `learnerId` or `ltiUserId`. */
      learnerId?: string;
      /** The maximum number of deliveries on a page. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: DeliveryPage;
  };
  /** Erase a learner */
  'DELETE /api/learners/{learnerId}': {
    params: {
      /** The learnerId of the embed tokens, percent-encoded where necessary. */
      learnerId: string;
    };
    query: {
      /** Only counts what would be removed. */
      dryRun?: 'true' | 'false';
      /** `anonymize` keeps points, status and position under a random id, without answers, state and attributes, in lessons with at least 5 records. */
      mode?: 'erase' | 'anonymize';
    };
    body: undefined;
    result: ErasurePreview | Erasure;
  };
  /** Erase a user of an LTI platform */
  'DELETE /api/lti-learners/{ltiUserId}': {
    params: {
      /** The platform's id for the user, from the launch, percent-encoded where necessary. */
      ltiUserId: string;
    };
    query: {
      /** Lectern's id of the platform. Case is ignored. */
      platformId: string;
      /** Only counts what would be removed. */
      dryRun?: 'true' | 'false';
      /** `anonymize` keeps points, status and position under a random id, without answers, state and attributes, in lessons with at least 5 records. */
      mode?: 'erase' | 'anonymize';
    };
    body: undefined;
    result: ErasurePreview | Erasure;
  };
  /** Follow an erasure */
  'GET /api/erasures/{erasureId}': {
    params: {
      /** Id of the erasure. */
      erasureId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: Erasure;
  };
  /** Export the data of a learner */
  'GET /api/learners/{learnerId}/export': {
    params: {
      /** The learnerId of the embed tokens, percent-encoded where necessary. */
      learnerId: string;
    };
    query: Record<never, never>;
    body: undefined;
    result: undefined;
  };
  /** Export the data of a user of an LTI platform */
  'GET /api/lti-learners/{ltiUserId}/export': {
    params: {
      /** The platform's id for the user, from the launch, percent-encoded where necessary. */
      ltiUserId: string;
    };
    query: {
      /** Lectern's id of the platform. Case is ignored. */
      platformId: string;
    };
    body: undefined;
    result: undefined;
  };
  /** Get the retention of learners’ records */
  'GET /api/retention': {
    params: Record<never, never>;
    query: Record<never, never>;
    body: undefined;
    result: Retention;
  };
  /** Set the retention of learners’ records */
  'PUT /api/retention': {
    params: Record<never, never>;
    query: {
      /** Only counts what a run would remove now with these settings. */
      dryRun?: 'true' | 'false';
    };
    body: {
      /** After how many days records of a kind are removed. A missing kind is off. */
      days: {
        progress?: number | null;
        ltiProgress?: number | null;
        grades?: number | null;
        deliveries?: number | null;
      };
    };
    result: Retention | RetentionDryRun;
  };
  /** Read the audit log */
  'GET /api/audit': {
    params: Record<never, never>;
    query: {
      /** Only entries from this time on. */
      since?: string;
      /** Only entries before this time. */
      until?: string;
      /** Only entries with this action. */
      action?: string;
      /** Only entries of this actor. */
      actorId?: string;
      /** Only entries about this learner. With `platformId`, the user of an LTI platform. */
      learnerId?: string;
      /** The platform of the user that `learnerId` names. Case is ignored. */
      platformId?: string;
      /** Which entries come first. Keep it for the pages of a list. */
      order?: 'oldest' | 'newest';
      /** The maximum number of entries on a page. */
      limit?: number;
      /** The `nextCursor` of the previous page (pagination). */
      cursor?: string;
    };
    body: undefined;
    result: AuditPage;
  };
}

/** An event that Lectern sends to webhooks. */
export type WebhookEvent =
  | {
      type: 'progress.started';
      /** When the event occurred. */
      timestamp: string;
      data: ProgressEventData;
    }
  | {
      type: 'progress.updated';
      /** When the event occurred. */
      timestamp: string;
      data: ProgressEventData;
    }
  | {
      type: 'progress.scored';
      /** When the event occurred. */
      timestamp: string;
      data: ProgressEventData;
    }
  | {
      type: 'progress.completed';
      /** When the event occurred. */
      timestamp: string;
      data: ProgressEventData;
    }
  | {
      type: 'lesson.published';
      /** When the event occurred. */
      timestamp: string;
      data: PublicationEventData;
    }
  | {
      type: 'lesson.unpublished';
      /** When the event occurred. */
      timestamp: string;
      data: PublicationEventData;
    }
  | {
      type: 'export.ready';
      /** When the event occurred. */
      timestamp: string;
      data: ExportReadyEventData;
    }
  | {
      type: 'export.failed';
      /** When the event occurred. */
      timestamp: string;
      data: ExportFailedEventData;
    }
  | {
      type: 'lti.grade.failed';
      /** When the event occurred. */
      timestamp: string;
      data: GradeFailedEventData;
    }
  | {
      type: 'learner.erased';
      /** When the event occurred. */
      timestamp: string;
      data: LearnerErasedEventData;
    }
  | {
      type: 'webhook.disabled';
      /** When the event occurred. */
      timestamp: string;
      data: WebhookDisabledEventData;
    }
  | {
      type: 'xapi.paused';
      /** When the event occurred. */
      timestamp: string;
      data: XapiPausedEventData;
    }
  | {
      type: 'ping';
      /** When the event occurred. */
      timestamp: string;
      data: PingEventData;
    };
