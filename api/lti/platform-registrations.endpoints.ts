import { hkdfSync } from 'node:crypto';
import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import {
  countOpenRegistrations,
  invitationHours,
  inviteRegistration,
  isInvitedKeySet,
  revokeRegistration,
} from '../../shared/models/lti-registration.ts';
import { newestFirst } from '../../shared/models/newest-first.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { apiAccess } from '../accounts/access.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { listQuery, presentPosition } from '../http/pagination.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { empty, failure, json } from '../http/responses.ts';
import {
  createdRegistration,
  exampleRegistration,
  presentRegistration,
  registrationPage,
} from './present-platform.ts';

const common = {
  access: apiAccess,
  scope: 'platforms',
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Platforms',
} as const;

const notFoundText = 'Registration not found';
const maxOpen = 20;
const tooManyText = `There are ${maxOpen} open registrations. Use or delete them, or wait until they expire.`;

interface RegistrationDependencies {
  db: Database;
  config: Pick<Config, 'publicUrl'>;
  secrets: Pick<Secrets, 'keyPepper'>;
}

/** GET /api/platform-registrations */
export const listRegistrations = defineEndpoint(
  {
    ...common,
    method: 'get',
    path: '/api/platform-registrations',
    query: listQuery('registrations'),
    operationId: 'listPlatformRegistrations',
    summary: 'List registration links',
    description: 'The newest first, for a month. The links themselves are not stored.',
    responses: {
      200: json('A page of registrations.', registrationPage, {
        one: { value: { registrations: [exampleRegistration], nextCursor: null } },
      }),
    },
  },
  ({ db, config }: RegistrationDependencies) =>
    async ({ ctx, caller, query: { limit, cursor = null } }) => {
      const filter = { organizationId: caller.organization._id };
      const { entries, next } = await newestFirst(db.ltiRegistrations, filter, { limit, after: cursor });
      const registrations = entries.map((one) => presentRegistration(one, publicUrlOf(ctx, config)));
      return { status: 200, body: { registrations, nextCursor: presentPosition(next) } };
    },
);

/** POST /api/platform-registrations */
export const createRegistration = defineEndpoint(
  {
    ...common,
    method: 'post',
    path: '/api/platform-registrations',
    audit: 'platform.invite',
    idempotent: true,
    operationId: 'createPlatformRegistration',
    summary: 'Create a registration link',
    description:
      `Returns a URL with which one platform registers itself within ${invitationHours} hours; approve it then. For ` +
      'platforms without dynamic registration, it returns the URLs to enter there.',
    responses: {
      201: json('The registration.', createdRegistration, {
        created: {
          value: {
            ...exampleRegistration,
            url: 'https://lectern.example/lti/register/rX0eZ1jUO4uVQWvXj3sWl1gkYw8ZVhmmr2P4sJ0mTzE',
            loginUrl: 'https://lectern.example/lti/login',
            launchUrl: 'https://lectern.example/lti/launch',
          },
        },
      }),
      409: failure('The organization has too many open registrations.', tooManyText),
    },
  },
  ({ db, config, secrets }: RegistrationDependencies) =>
    async ({ ctx, caller, newId }) => {
      const bytes = hkdfSync('sha256', secrets.keyPepper, newId, 'lectern lti registration', 32);
      const token = Buffer.from(bytes).toString('base64url');
      const organizationId = caller.organization._id;
      const isRepeated = await isInvitedKeySet(db, { keySetId: newId, organizationId });
      if (!isRepeated && (await countOpenRegistrations(db, organizationId)) >= maxOpen)
        throw new LecternError('CONFLICT', tooManyText);
      const created = await inviteRegistration(db, organizationId, { token, keySetId: newId });
      const base = publicUrlOf(ctx, config);
      return {
        status: 201,
        body: {
          ...presentRegistration(created, base),
          url: `${base}/lti/register/${token}`,
          loginUrl: `${base}/lti/login`,
          launchUrl: `${base}/lti/launch`,
        },
      };
    },
);

/** DELETE /api/platform-registrations/{registrationId} */
export const revokeRegistrationEndpoint = defineEndpoint(
  {
    ...common,
    method: 'delete',
    path: '/api/platform-registrations/:registrationId',
    params: z.object({
      registrationId: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'Invalid registration ID format')
        .meta({ description: 'Id of the registration.' }),
    }),
    audit: 'platform.revoke_invitation',
    operationId: 'revokePlatformRegistration',
    summary: 'Revoke a registration link',
    responses: {
      204: empty('The link does not work any more.'),
      404: failure(
        'There is no such registration, it was used, or it belongs to another organization.',
        notFoundText,
      ),
    },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params }) => {
      const registration = { _id: params.registrationId, organizationId: caller.organization._id };
      if (!(await revokeRegistration(db, registration))) throw new LecternError('NOT_FOUND', notFoundText);
      return { status: 204 };
    },
);

export const registrationEndpoints = [
  revokeRegistrationEndpoint,
  createRegistration,
  listRegistrations,
] as const;
