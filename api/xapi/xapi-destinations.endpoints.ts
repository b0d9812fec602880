import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import { listDestinations, xapiVerbs, xapiVersions } from '../../shared/models/xapi-destination.ts';
import type { Config } from '../../shared/platform/config.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { maxUrlLength } from '../../shared/webhooks/receiver-url.ts';
import {
  changeDestination,
  createDestination,
  destinationNotFound,
  endpointFault,
  maxDestinations,
  passwordNeeded,
  removeDestination,
  requireDestination,
  tooManyDestinations,
} from '../../shared/xapi/destinations.ts';
import { testDestination } from '../../shared/xapi/test-destination.ts';
import { apiAccess } from '../accounts/access.ts';
import { replay, replayBody, replayDescription, replayed } from '../deliveries/receivers.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import type { RateLimits } from '../http/middleware/rate-limit.ts';
import { empty, failure, json } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';
import {
  destinationBody,
  destinationTest,
  exampleDestination,
  exampleSettings,
  presentDestination,
} from './present-destination.ts';

const common = {
  scope: 'deliveries',
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'xAPI',
} as const;
const notFound = failure(
  'There is no such destination, or it belongs to another organization.',
  destinationNotFound,
);

const text = (name: string, max: number) =>
  z
    .string(`${name} is required`)
    .min(1, `${name} is required`)
    .max(max, `${name} must be at most ${max} characters`);
const verbsFault = `verbs must be a list of 1 to ${xapiVerbs.length} verbs`;
const scoreFault = 'passingScore must be a number from 0 to 1, or null';
const endpointFaults = [
  'endpoint must be an https URL',
  'endpoint must begin with https://',
  'endpoint must have no query and no fragment',
];

const fields = {
  endpoint: text('endpoint', maxUrlLength).meta({
    description: 'The URL of the xAPI of the LRS, before `statements`. https, and its host must be public.',
  }),
  username: text('username', 255)
    .regex(/^[^:]*$/, 'username must have no colon')
    .meta({ description: 'For HTTP Basic authentication.' }),
  password: text('password', 1024).meta({ description: 'No response shows it.' }),
  version: z.enum(xapiVersions, 'version must be 1.0.3 or 2.0.0').meta({
    description: 'The xAPI version of the LRS.',
  }),
  verbs: z
    .array(
      z.enum(xapiVerbs, { error: ({ input }) => `verbs has no verb ${JSON.stringify(input)}` }),
      verbsFault,
    )
    .min(1, verbsFault)
    .max(xapiVerbs.length, verbsFault)
    .transform((verbs) => [...new Set(verbs)])
    .meta({ description: 'The verbs of the statements to send.' }),
  pseudonyms: z.boolean('pseudonyms must be true or false').meta({
    description: 'Identifies learners by salted hashes instead of their ids.',
  }),
  passingScore: z.number(scoreFault).min(0, scoreFault).max(1, scoreFault).nullable().meta({
    description:
      'The share of points from which a finished lesson is `passed`; null sends neither passed nor failed.',
  }),
};

const createSchema = z.strictObject(
  {
    ...fields,
    version: fields.version.default('1.0.3'),
    verbs: fields.verbs.default([...xapiVerbs]),
    pseudonyms: fields.pseudonyms.default(false),
    passingScore: fields.passingScore.default(null),
  },
  { error: objectFault },
);
const changeSchema = z.strictObject(
  {
    endpoint: fields.endpoint.optional(),
    username: fields.username.optional(),
    password: fields.password.optional(),
    version: fields.version.optional(),
    verbs: fields.verbs.optional(),
    pseudonyms: fields.pseudonyms.optional(),
    passingScore: fields.passingScore.optional(),
    status: z
      .enum(['active', 'paused'], 'status must be active or paused')
      .optional()
      .meta({ description: '`active` resumes a paused destination, and sends the waiting statements.' }),
  },
  { error: objectFault },
);

const params = z.object({
  destinationId: z
    .guid('Invalid destination ID format')
    .toLowerCase()
    .meta({ description: 'Id of the destination.' }),
});

interface DestinationDependencies {
  db: Database;
  config: Pick<Config, 'download' | 'isLocal'>;
  secrets: Pick<Secrets, 'keyPepper'>;
}

interface ReplayDependencies {
  db: Database;
  rateLimits: Pick<RateLimits, 'replays'>;
}

function assertEndpoint(url: string | undefined, config: DestinationDependencies['config']): void {
  const fault = url === undefined ? null : endpointFault(url, config);
  if (fault !== null) throw new LecternError('INVALID_CONTENT', fault);
}

const described = json('The destination.', destinationBody, { active: { value: exampleDestination } });

/** POST /api/xapi-destinations */
export const createXapiDestination = defineEndpoint(
  {
    ...common,
    method: 'post',
    path: '/api/xapi-destinations',
    access: apiAccess,
    audit: 'destination.create',
    idempotent: true,
    operationId: 'createXapiDestination',
    summary: 'Create an xAPI destination',
    description:
      `Sends statements about the organization's learners to a learning record store (LRS), from the response on. An ` +
      `organization has at most ${maxDestinations} destinations.`,
    body: strictBody(
      createSchema,
      { one: { value: { ...exampleSettings, password: 'a password of the LRS' } } },
      endpointFaults,
    ),
    responses: {
      201: described,
      409: failure('The organization has too many destinations.', tooManyDestinations),
    },
  },
  ({ db, config, secrets }: DestinationDependencies) =>
    async ({ caller, readBody, newId }) => {
      const settings = await readBody();
      assertEndpoint(settings.endpoint, config);
      const { _id } = caller.organization;
      const created = await createDestination(db, secrets.keyPepper, _id, settings, newId);
      return { status: 201, body: presentDestination(created) };
    },
);

/** GET /api/xapi-destinations */
export const listXapiDestinations = defineEndpoint(
  {
    ...common,
    method: 'get',
    path: '/api/xapi-destinations',
    access: apiAccess,
    operationId: 'listXapiDestinations',
    summary: 'List xAPI destinations',
    responses: {
      200: json(
        'The destinations, the oldest first.',
        z.strictObject({ destinations: z.array(destinationBody) }).meta({ id: 'XapiDestinationList' }),
        { one: { value: { destinations: [exampleDestination] } } },
      ),
    },
  },
  ({ db }: { db: Database }) =>
    async ({ caller }) => {
      const destinations = await listDestinations(db, [caller.organization._id]);
      return { status: 200, body: { destinations: destinations.map(presentDestination) } };
    },
);

const ofOne = {
  ...common,
  path: '/api/xapi-destinations/:destinationId',
  access: apiAccess,
  params,
} as const;

/** GET /api/xapi-destinations/{destinationId} */
export const getXapiDestination = defineEndpoint(
  {
    ...ofOne,
    method: 'get',
    operationId: 'getXapiDestination',
    summary: 'Read an xAPI destination',
    responses: { 200: described, 404: notFound },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params: { destinationId: id } }) => {
      const found = await requireDestination(db, { id, organizationId: caller.organization._id });
      return { status: 200, body: presentDestination(found) };
    },
);

/** PATCH /api/xapi-destinations/{destinationId} */
export const changeXapiDestination = defineEndpoint(
  {
    ...ofOne,
    method: 'patch',
    audit: 'destination.change',
    operationId: 'changeXapiDestination',
    summary: 'Change an xAPI destination',
    description:
      'Changes the given fields; another endpoint needs a password. While a destination is paused, its statements wait. ' +
      'Activating one sends them, and counts as a replay.',
    body: strictBody(changeSchema, { resumed: { value: { status: 'active' } } }, [
      ...endpointFaults,
      passwordNeeded,
    ]),
    responses: { 200: described, 404: notFound },
  },
  ({ db, config, secrets, rateLimits }: DestinationDependencies & Pick<ReplayDependencies, 'rateLimits'>) =>
    async ({ ctx, caller, params: { destinationId: id }, readBody }) => {
      const { status, ...given } = await readBody();
      assertEndpoint(given.endpoint, config);
      // Activating a destination sends all its waiting statements.
      if (status === 'active') await rateLimits.replays.count(ctx, caller.organization._id);
      const settings = Object.fromEntries(
        Object.entries(given).filter(([, value]) => (value as unknown) !== undefined),
      );
      const changed = await changeDestination(
        db,
        secrets.keyPepper,
        { id, organizationId: caller.organization._id },
        { ...settings, ...(status !== undefined && { isActive: status === 'active' }) },
      );
      return { status: 200, body: presentDestination(changed) };
    },
);

/** DELETE /api/xapi-destinations/{destinationId} */
export const deleteXapiDestination = defineEndpoint(
  {
    ...ofOne,
    method: 'delete',
    audit: 'destination.delete',
    operationId: 'deleteXapiDestination',
    summary: 'Delete an xAPI destination',
    description: 'Deletes it with its statements. Waiting ones are not sent.',
    responses: { 204: empty('It is deleted.'), 404: notFound },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, params: { destinationId: id } }) => {
      await removeDestination(db, { id, organizationId: caller.organization._id });
      return { status: 204 };
    },
);

/** POST /api/xapi-destinations/{destinationId}/replay */
export const replayXapiDestination = defineEndpoint(
  {
    ...ofOne,
    method: 'post',
    path: '/api/xapi-destinations/:destinationId/replay',
    access: apiAccess,
    audit: 'destination.replay',
    operationId: 'replayXapiDestination',
    summary: 'Send statements again',
    description: replayDescription,
    body: replayBody,
    responses: { 202: replayed, 404: notFound },
  },
  (deps: ReplayDependencies) =>
    async ({ ctx, caller, params: { destinationId: id }, readBody }) => {
      const period = await readBody();
      const organizationId = caller.organization._id;
      await requireDestination(deps.db, { id, organizationId });
      return replay(deps, ctx, { organizationId, targetId: id }, period);
    },
);

/** POST /api/xapi-destinations/{destinationId}/test */
export const testXapiDestination = defineEndpoint(
  {
    ...ofOne,
    method: 'post',
    path: '/api/xapi-destinations/:destinationId/test',
    access: apiAccess,
    audit: 'destination.test',
    operationId: 'testXapiDestination',
    summary: 'Test an xAPI destination',
    description:
      'Asks the LRS for an empty list of statements, with the user name and the password, even if the destination is ' +
      'paused. It changes nothing there. An organization may do this 12 times a minute.',
    responses: {
      200: json('What the LRS said.', destinationTest, {
        ok: {
          value: { result: 'ok', status: 200, message: 'The LRS accepts the user name and the password' },
        },
      }),
      404: notFound,
    },
  },
  ({
    db,
    config,
    secrets,
    rateLimits,
  }: DestinationDependencies & { rateLimits: Pick<RateLimits, 'tests'> }) =>
    async ({ ctx, caller, params: { destinationId: id } }) => {
      const organizationId = caller.organization._id;
      const destination = await requireDestination(db, { id, organizationId });
      await rateLimits.tests.count(ctx, organizationId);
      return { status: 200, body: await testDestination(destination, { config, pepper: secrets.keyPepper }) };
    },
);

/** In the order in which requests match them. */
export const xapiEndpoints = [
  testXapiDestination,
  replayXapiDestination,
  getXapiDestination,
  changeXapiDestination,
  deleteXapiDestination,
  createXapiDestination,
  listXapiDestinations,
] as const;
