import { claim as readClaims, gradeScopes, mediaTypes as sentTypes } from '../shared/lti/claims.ts';

/* Names of LTI 1.3, AGS 2.0 and Deep Linking 2.0 that only platforms use, beside those of shared/lti/claims.ts. */

const lti = 'https://purl.imsglobal.org/spec/lti/claim/';
const deepLinking = 'https://purl.imsglobal.org/spec/lti-dl/claim/';

export const claim = {
  ...readClaims,
  toolPlatform: `${lti}tool_platform`,
  lis: `${lti}lis`,
  message: `${deepLinking}msg`,
  errorMessage: `${deepLinking}errormsg`,
} as const;

export const scope = {
  ...gradeScopes,
  resultReadonly: 'https://purl.imsglobal.org/spec/lti-ags/scope/result.readonly',
} as const;

export const allScopes: readonly string[] = Object.values(scope);

export const mediaType = {
  ...sentTypes,
  results: 'application/vnd.ims.lis.v2.resultcontainer+json',
} as const;

const membership = 'http://purl.imsglobal.org/vocab/lis/v2/membership#';
const institution = 'http://purl.imsglobal.org/vocab/lis/v2/institution/person#';

export const learnerRole = `${membership}Learner`;

/** Role lists as platforms send them: the role in the institution, and the one in the course. */
export const rolesOf = {
  learner: [`${institution}Student`, learnerRole],
  instructor: [`${institution}Instructor`, `${membership}Instructor`],
} as const;

export const activityProgresses = ['Initialized', 'Started', 'InProgress', 'Submitted', 'Completed'] as const;
export const gradingProgresses = ['NotReady', 'Failed', 'Pending', 'PendingManual', 'FullyGraded'] as const;
