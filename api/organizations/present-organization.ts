import { z } from 'zod';
import { plans } from '../../shared/models/organization.ts';
import type { Organization } from '../../shared/models/organization.ts';
import { count, time, uuid } from '../http/responses.ts';

const shape = {
  id: uuid,
  slug: z.string(),
  name: z.string(),
  plan: z.enum(plans),
  allowedOrigins: z
    .array(z.string())
    .meta({ description: 'The origins whose pages may embed its lessons; any page may if there are none.' }),
  externalVideos: z
    .boolean()
    .meta({ description: 'Whether its lessons play videos in the players of YouTube and Vimeo.' }),
  keyDays: z
    .int()
    .nullable()
    .meta({ description: 'The days after which new API keys expire; null for never.' }),
  createdAt: time,
};

/** What the users of an organization see of it. */
export const organizationBody = z.strictObject(shape).meta({ id: 'Organization' });

export const storageBody = z
  .strictObject({
    storedBytes: count.meta({
      description: 'The bytes of media, widgets and contents of all versions, also of deleted lessons.',
    }),
    maxBytes: count.nullable().meta({ description: 'How many it may store; null for any number.' }),
  })
  .meta({ id: 'OrganizationStorage' });

/** What operators see of an organization. */
export const operatedOrganization = z
  .strictObject({
    ...shape,
    maxStoredBytes: count
      .nullable()
      .meta({ description: 'How many bytes it may store: 0 for any number, null for the default.' }),
    suspendedAt: time.nullable(),
  })
  .meta({ id: 'OperatedOrganization' });

export function presentOrganization(organization: Organization): z.input<typeof organizationBody> {
  const { _id, slug, name, plan, allowedOrigins, externalVideos, keyDays, createdAt } = organization;
  return {
    ...{ id: _id, slug, name, plan, allowedOrigins, externalVideos, keyDays },
    createdAt: createdAt.toISOString(),
  };
}

export function presentOperated(organization: Organization): z.input<typeof operatedOrganization> {
  const { maxStoredBytes, suspendedAt } = organization;
  return {
    ...presentOrganization(organization),
    maxStoredBytes,
    suspendedAt: suspendedAt?.toISOString() ?? null,
  };
}

export const exampleOrganization: z.input<typeof organizationBody> = {
  id: '9c4b7a1e-3d2f-4e5a-8b6c-7d8e9f0a1b2c',
  slug: 'acme',
  name: 'Acme Academy',
  plan: 'edtech',
  allowedOrigins: ['https://lms.acme.example'],
  externalVideos: false,
  keyDays: null,
  createdAt: '2026-03-02T08:20:11.000Z',
};
export const exampleOperated: z.input<typeof operatedOrganization> = {
  ...exampleOrganization,
  maxStoredBytes: null,
  suspendedAt: null,
};
