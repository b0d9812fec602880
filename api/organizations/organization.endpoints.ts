import type { Database } from '../../shared/models/database.ts';
import { changeOrganization } from '../../shared/models/organization.ts';
import { sumStoredBytes } from '../../shared/models/stored-bytes.ts';
import type { Config } from '../../shared/platform/config.ts';
import { apiAccess } from '../accounts/access.ts';
import { auditedChange } from '../http/audit.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { json } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import { organizationChanges } from './organization-requests.ts';
import {
  exampleOrganization,
  organizationBody,
  presentOrganization,
  storageBody,
} from './present-organization.ts';

const common = {
  path: '/api/organization',
  access: apiAccess,
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Organization',
} as const;
const found = json('The organization.', organizationBody, { one: { value: exampleOrganization } });

/** GET /api/organization */
export const getOrganization = defineEndpoint(
  {
    ...common,
    method: 'get',
    scope: 'read',
    operationId: 'getOrganization',
    summary: 'Read the organization',
    responses: { 200: found },
  },
  () =>
    ({ caller }) => ({ status: 200, body: presentOrganization(caller.organization) }),
);

/** PATCH /api/organization */
export const changeOrganizationEndpoint = defineEndpoint(
  {
    ...common,
    method: 'patch',
    scope: 'organization',
    audit: 'organization.change',
    operationId: 'changeOrganization',
    summary: 'Change the organization',
    description: 'Changes the given fields. Slug, plan and limits are the operator’s.',
    body: strictBody(organizationChanges, { name: { value: { name: 'Acme Academy' } } }, [
      'allowedOrigins: "*" is no origin. It must be one origin, without *. Name no origin at all to allow any.',
    ]),
    responses: { 200: found },
  },
  ({ db }: { db: Database }) =>
    async ({ ctx, caller, readBody }) => {
      const changes = await readBody();
      const { _id } = caller.organization;
      const changed = await changeOrganization(db, { _id }, changes);
      const fields = Object.keys(changes).join(' ');
      auditedChange.set(ctx, { target: { type: 'organization', id: _id }, details: { fields } });
      return { status: 200, body: presentOrganization(changed ?? caller.organization) };
    },
);

/** GET /api/organization/storage */
export const getStorage = defineEndpoint(
  {
    ...common,
    method: 'get',
    path: '/api/organization/storage',
    scope: 'read',
    operationId: 'getOrganizationStorage',
    summary: 'Read how much the organization stores',
    responses: {
      200: json('The bytes.', storageBody, {
        one: { value: { storedBytes: 183_402_112, maxBytes: 10_737_418_240 } },
      }),
    },
  },
  ({ db, config }: { db: Database; config: Pick<Config, 'import'> }) =>
    async ({ caller: { organization } }) => {
      const limit = organization.maxStoredBytes ?? config.import.maxStoredBytes;
      const storedBytes = await sumStoredBytes(db, organization._id);
      return { status: 200, body: { storedBytes, maxBytes: limit === 0 ? null : limit } };
    },
);
