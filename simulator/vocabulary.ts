/** Names of the standards: claims, scopes, roles and media types, as LTI 1.3, AGS 2.0 and Deep Linking 2.0 have them. */

const lti = 'https://purl.imsglobal.org/spec/lti/claim/';
const deepLinking = 'https://purl.imsglobal.org/spec/lti-dl/claim/';
const gradeScope = 'https://purl.imsglobal.org/spec/lti-ags/scope/';

export const claim = {
  messageType: `${lti}message_type`,
  version: `${lti}version`,
  deploymentId: `${lti}deployment_id`,
  targetLinkUri: `${lti}target_link_uri`,
  resourceLink: `${lti}resource_link`,
  roles: `${lti}roles`,
  context: `${lti}context`,
  custom: `${lti}custom`,
  launchPresentation: `${lti}launch_presentation`,
  toolPlatform: `${lti}tool_platform`,
  lis: `${lti}lis`,
  gradeEndpoint: 'https://purl.imsglobal.org/spec/lti-ags/claim/endpoint',
  deepLinkingSettings: `${deepLinking}deep_linking_settings`,
  contentItems: `${deepLinking}content_items`,
  data: `${deepLinking}data`,
  message: `${deepLinking}msg`,
  errorMessage: `${deepLinking}errormsg`,
} as const;

export const scope = {
  lineItem: `${gradeScope}lineitem`,
  lineItemReadonly: `${gradeScope}lineitem.readonly`,
  score: `${gradeScope}score`,
  resultReadonly: `${gradeScope}result.readonly`,
} as const;

/** What Canvas has tools say of a score beyond the standard. */
export const canvasSubmission = 'https://canvas.instructure.com/lti/submission';

export const allScopes: readonly string[] = Object.values(scope);

export const mediaType = {
  lineItem: 'application/vnd.ims.lis.v2.lineitem+json',
  lineItems: 'application/vnd.ims.lis.v2.lineitemcontainer+json',
  score: 'application/vnd.ims.lis.v1.score+json',
  results: 'application/vnd.ims.lis.v2.resultcontainer+json',
} as const;

export const messageTypes = {
  resourceLink: 'LtiResourceLinkRequest',
  deepLinking: 'LtiDeepLinkingRequest',
  deepLinkingResponse: 'LtiDeepLinkingResponse',
} as const;

export const platformConfiguration = 'https://purl.imsglobal.org/spec/lti-platform-configuration';
export const toolConfiguration = 'https://purl.imsglobal.org/spec/lti-tool-configuration';

const membership = 'http://purl.imsglobal.org/vocab/lis/v2/membership#';
const institution = 'http://purl.imsglobal.org/vocab/lis/v2/institution/person#';

export const learnerRole = `${membership}Learner`;

/** Whole role lists, as platforms send them: the role in the course, and the one in the school. */
export const rolesOf = {
  learner: [`${institution}Student`, learnerRole],
  instructor: [`${institution}Instructor`, `${membership}Instructor`],
} as const;

export const activityProgresses = ['Initialized', 'Started', 'InProgress', 'Submitted', 'Completed'] as const;
export const gradingProgresses = ['NotReady', 'Failed', 'Pending', 'PendingManual', 'FullyGraded'] as const;
