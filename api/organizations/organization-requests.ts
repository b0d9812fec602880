import { z } from 'zod';
import { maxEmbeddingOrigins, readEmbeddingOrigin } from '../../shared/accounts/embedding-origins.ts';
import { plans } from '../../shared/models/organization.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';

/* What requests about organizations may contain. */

const name = z
  .string('name must be a text')
  .trim()
  .min(1, 'name must not be empty')
  .max(200, 'name must be at most 200 characters');
const plan = z.enum(plans, `plan must be one of ${plans.join(', ')}`);

const originsFault = `allowedOrigins must be a list of at most ${maxEmbeddingOrigins} origins`;
const allowedOrigins = z
  .array(z.string(originsFault), originsFault)
  .max(maxEmbeddingOrigins, originsFault)
  .transform((texts, context) => {
    const origins = texts.map((text) => {
      const read = readEmbeddingOrigin(text);
      if ('origin' in read) return read.origin;
      context.addIssue(`allowedOrigins: ${JSON.stringify(text)} is no origin. ${read.fault}`);
      return '';
    });
    return [...new Set(origins)];
  })
  .meta({ description: 'The origins whose pages may embed lessons; none for any.' });
const externalVideos = z.boolean('externalVideos must be true or false');

const maxDays = 3650;
const daysFault = `keyDays must be a whole number of days between 1 and ${maxDays}, or null`;
const keyDays = z.int(daysFault).min(1, daysFault).max(maxDays, daysFault).nullable();
const bytesFault = 'maxStoredBytes must be a number of bytes, 0 for any number, or null for the default';
const maxStoredBytes = z.int(bytesFault).min(0, bytesFault).nullable();

/** What an organization's administrators may change. */
export const organizationChanges = z.strictObject(
  {
    name: name.optional(),
    allowedOrigins: allowedOrigins.optional(),
    externalVideos: externalVideos.optional(),
    keyDays: keyDays.optional(),
  },
  { error: objectFault },
);

export const newOrganization = z.strictObject(
  {
    slug: z
      .string('slug is required')
      .regex(
        /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
        'slug must have lower-case letters and digits, with single hyphens between',
      )
      .max(63, 'slug must be at most 63 characters')
      .meta({ description: 'A short name for commands. It never changes.' }),
    name,
    plan,
  },
  { error: objectFault },
);

/** What operators may change. */
export const operatedChanges = z.strictObject(
  {
    name: name.optional(),
    plan: plan.optional(),
    maxStoredBytes: maxStoredBytes.optional(),
    status: z
      .enum(['active', 'suspended'], 'status must be active or suspended')
      .optional()
      .meta({
        description:
          '`suspended` rejects the API keys and tokens of the organization, and ends its sessions. Its data stay, and what it has ' +
          'begun goes on. Tokens from before a suspension stay invalid after it.',
      }),
  },
  { error: objectFault },
);
