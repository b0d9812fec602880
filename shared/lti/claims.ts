import { z } from 'zod';

/**
 * The messages of LTI 1.3 that a platform sends: the claims of its id_token that Lectern reads. Sources: LTI Core 1.3,
 * LTI Deep Linking 2.0, LTI Assignment and Grade Services 2.0. Claims that are not listed are ignored, as the
 * standard has it.
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

/** What the grade service of a platform may let a tool do. */
export const gradeScopes = {
  lineItem: 'https://purl.imsglobal.org/spec/lti-ags/scope/lineitem',
  lineItemReadonly: 'https://purl.imsglobal.org/spec/lti-ags/scope/lineitem.readonly',
  score: 'https://purl.imsglobal.org/spec/lti-ags/scope/score',
} as const;

/** Ids of the standard: 1 to 255 ASCII characters. */
const id = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x20-\x7e]*$/);

const address = z.url({ protocol: /^https?$/ }).max(4096);

/** Numbers and booleans appear among custom parameters, although the standard has strings only. */
const custom = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean()]).transform(String).catch(''),
);

/** Whether a platform says with a value that there is none: some send null, or nothing between quotes. */
export function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

const orNothing = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (isNothing(value) ? undefined : value), schema.optional());

/** A list of names. Some platforms send one by itself, or have something else among them. */
const names = z.preprocess(
  (value) => (typeof value === 'string' ? [value] : value),
  z.array(z.string().nullable().catch(null)).transform((list) => list.filter((name) => name !== null)),
);

/** A course; where it has no id there is none. */
const context = z.preprocess((value) => {
  const { id } = (value ?? {}) as { id?: unknown };
  return isNothing(id) ? undefined : value;
}, z.object({ id }).optional());

const common = {
  /** Who launches; without it nobody may know. */
  sub: orNothing(id),
  [claim.deploymentId]: id,
  [claim.roles]: names.catch([]),
  [claim.context]: context,
  [claim.custom]: custom.optional().catch(undefined),
  [claim.launchPresentation]: z
    .object({
      locale: z.string().max(64).optional().catch(undefined),
      return_url: address.optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
};

/** A link of a course is opened. */
export const resourceLinkClaims = z.object({
  ...common,
  [claim.targetLinkUri]: address,
  [claim.resourceLink]: z.object({ id }),
  [claim.gradeService]: z
    .object({
      scope: names.catch([]),
      lineitem: address.optional().catch(undefined),
      lineitems: address.optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
});
export type ResourceLinkClaims = z.output<typeof resourceLinkClaims>;

/** Somebody is to choose content for a course. */
export const deepLinkingClaims = z.object({
  ...common,
  [claim.deepLinkingSettings]: z.object({
    deep_link_return_url: address,
    accept_types: names,
    accept_multiple: z.boolean().optional().catch(undefined),
    accept_lineitem: z.boolean().optional().catch(undefined),
    /** Given back as it came. */
    data: orNothing(z.string()),
  }),
});
export type DeepLinkingClaims = z.output<typeof deepLinkingClaims>;

/** The custom parameters by which a launch finds its lesson; deep linking writes them. */
export const customParameters = {
  lessonId: 'lesson_id',
  versionId: 'version_id',
  /** Filled by the platform: the links that this one was copied from, the nearest first, between commas. */
  resourceLinkHistory: 'resource_link_history',
  contextHistory: 'context_history',
  /** `none` where the lesson was chosen without a column in the gradebook. */
  column: 'gradebook_column',
} as const;

/** The value of the parameter `column`. */
export const noColumn = 'none';
