import { z } from 'zod';

/**
 * The vocabulary of LTI 1.3, and schemas of the id_token's claims that Lectern reads. Sources: LTI Core 1.3, LTI Deep
 * Linking 2.0, LTI Assignment and Grade Services 2.0. The schemas drop other claims, as the standard requires.
 */

const lti = 'https://purl.imsglobal.org/spec/lti/claim/';
const deepLinking = 'https://purl.imsglobal.org/spec/lti-dl/claim/';

/** The full names of claims. */
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
  gradeService: 'https://purl.imsglobal.org/spec/lti-ags/claim/endpoint',
  deepLinkingSettings: `${deepLinking}deep_linking_settings`,
  contentItems: `${deepLinking}content_items`,
  deepLinkingData: `${deepLinking}data`,
} as const;

export const messageTypes = {
  resourceLink: 'LtiResourceLinkRequest',
  deepLinking: 'LtiDeepLinkingRequest',
  deepLinkingResponse: 'LtiDeepLinkingResponse',
} as const;

export const ltiVersion = '1.3.0';

/** The scopes of a platform's grade service. */
export const gradeScopes = {
  lineItem: 'https://purl.imsglobal.org/spec/lti-ags/scope/lineitem',
  lineItemReadonly: 'https://purl.imsglobal.org/spec/lti-ags/scope/lineitem.readonly',
  score: 'https://purl.imsglobal.org/spec/lti-ags/scope/score',
} as const;

/** The media types of a platform's grade service. */
export const mediaTypes = {
  lineItem: 'application/vnd.ims.lis.v2.lineitem+json',
  lineItems: 'application/vnd.ims.lis.v2.lineitemcontainer+json',
  score: 'application/vnd.ims.lis.v1.score+json',
} as const;

/** A member of scores by which Canvas counts submissions. Other platforms ignore it. */
export const canvasSubmission = 'https://canvas.instructure.com/lti/submission';

/** Members of the configurations that platform and tool exchange in dynamic registration. */
export const platformConfiguration = 'https://purl.imsglobal.org/spec/lti-platform-configuration';
export const toolConfiguration = 'https://purl.imsglobal.org/spec/lti-tool-configuration';

/**
 * An id in the standard: 1 to 255 ASCII characters. Some platforms send integers; larger ones than JavaScript can
 * distinguish are no ids, or two users could become one.
 */
export const ltiId = z
  .union([z.string(), z.int()])
  .transform(String)
  .pipe(z.string().regex(/^[\x20-\x7e]{1,255}$/));

/** A URL that a platform names. */
export const httpUrl = z.url({ protocol: /^https?$/ }).max(4096);

/** The standard has strings only, but platforms also send numbers and booleans. */
const custom = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean()]).transform(String).catch(''),
);

/** Whether a value stands for an absent one: some platforms send null or an empty string. */
export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

const orAbsent = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (isAbsent(value) ? undefined : value), schema.optional());

/** A list of names. Some platforms send a single string, or other values among the names. */
const names = z.preprocess(
  (value) => (typeof value === 'string' ? [value] : value),
  z.array(z.string().nullable().catch(null)).transform((list) => list.filter((name) => name !== null)),
);

/** A course, absent if it has no id. */
const context = z.preprocess(
  (value) => {
    const { id } = (value ?? {}) as { id?: unknown };
    return isAbsent(id) ? undefined : value;
  },
  z.object({ id: ltiId }).optional(),
);

const common = {
  /** The user; absent in an anonymous launch. */
  sub: orAbsent(ltiId),
  [claim.deploymentId]: ltiId,
  [claim.roles]: names.catch([]),
  [claim.context]: context,
  [claim.custom]: custom.optional().catch(undefined),
  [claim.launchPresentation]: z
    .object({
      locale: z.string().max(64).optional().catch(undefined),
      return_url: httpUrl.optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
};

/** A user opens a link of a course. */
export const resourceLinkClaims = z.object({
  ...common,
  [claim.targetLinkUri]: httpUrl,
  [claim.resourceLink]: z.object({ id: ltiId }),
  [claim.gradeService]: z
    .object({
      scope: names.catch([]),
      lineitem: httpUrl.optional().catch(undefined),
      lineitems: httpUrl.optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});
export type ResourceLinkClaims = z.output<typeof resourceLinkClaims>;

/** A teacher chooses content for a course. */
export const deepLinkingClaims = z.object({
  ...common,
  [claim.deepLinkingSettings]: z.object({
    deep_link_return_url: httpUrl,
    /** Absent if the platform does not say what it accepts. */
    accept_types: orAbsent(names),
    accept_multiple: z.boolean().optional().catch(undefined),
    accept_lineitem: z.boolean().optional().catch(undefined),
  }),
});
export type DeepLinkingClaims = z.output<typeof deepLinkingClaims>;

/** The custom parameters by which a launch finds its lesson; deep linking writes them. */
export const customParameters = {
  lessonId: 'lesson_id',
  versionId: 'version_id',
  /** Filled by the platform: the links that this one was copied from, comma-separated, the latest first. */
  resourceLinkHistory: 'resource_link_history',
  contextHistory: 'context_history',
  /** `none` if the lesson was chosen without a gradebook column. */
  column: 'gradebook_column',
} as const;

/** The value of the parameter `column`. */
export const noColumn = 'none';
