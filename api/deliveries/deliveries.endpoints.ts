import { z } from 'zod';
import type { Database } from '../../shared/models/database.ts';
import { deliveryStatuses } from '../../shared/models/delivery-list.ts';
import {
  deliveryKinds,
  dismissAny,
  findAnyDelivery,
  listAllDeliveries,
  resendAny,
} from '../../shared/outgoing/all-deliveries.ts';
import type { AnyDelivery, DeliveryPosition } from '../../shared/outgoing/all-deliveries.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { apiAccess } from '../accounts/access.ts';
import { defineEndpoint, unknownParameter } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import * as example from '../http/examples.ts';
import { cursorDescription, cursorFault, pageLimit } from '../http/pagination.ts';
import { failure, json, time } from '../http/responses.ts';
import { deliveryStatus } from './receivers.ts';

const common = {
  scope: 'deliveries',
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Deliveries',
} as const;
const notFoundText = 'Delivery not found';

const deliveryBody = z
  .strictObject({
    id: z.string(),
    kind: z.enum(deliveryKinds),
    targetId: z
      .string()
      .meta({ description: 'Id of the webhook, the xAPI destination or the LTI platform.' }),
    type: z.string().meta({ description: 'The event type, the verb of the statement, or `score`.' }),
    status: z.enum(deliveryStatuses),
    lessonId: z.string().nullable(),
    learnerId: z.string().nullable().meta({ description: 'The `learnerId`, or the `ltiUserId`.' }),
    createdAt: time,
    attempts: z.array(
      z.strictObject({
        at: time,
        milliseconds: z.int().nullable().meta({ description: 'Null for grades.' }),
        status: z.int().nullable(),
        error: z.string().nullable(),
        response: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: 'Delivery' });

const deliveryList = z
  .strictObject({
    deliveries: z.array(deliveryBody),
    nextCursor: z.string().nullable().meta({ description: 'The cursor of the next page; null on the last.' }),
  })
  .meta({ id: 'DeliveryPage' });

const exampleDelivery = {
  id: 'xst_6c0f4f0d-6b9e-5d7a-9a3b-0a9f1c2d3e4f',
  kind: 'xapi' as const,
  targetId: '3c0a7e52-6a3e-4c0e-9f0e-8a54f0b9d1c7',
  type: 'completed',
  status: 'failed' as const,
  lessonId: example.lessonId,
  learnerId: example.learnerId,
  createdAt: '2026-11-21T09:14:31.027Z',
  attempts: [
    {
      ...{ at: '2026-11-21T09:14:32.100Z', milliseconds: 41, status: 400 },
      ...{ error: 'The LRS returned 400', response: 'The actor is unknown' },
    },
  ],
};

const position = z.tuple([z.int().min(0), z.string().max(100)]);

/** Reads a cursor: base64url of creation time (ms) and id of the last delivery on the page before. */
const cursor = z
  .string(cursorFault)
  .max(300, cursorFault)
  .transform((text, context): DeliveryPosition => {
    const parsed = position.safeParse(readJson(Buffer.from(text, 'base64url').toString()));
    if (parsed.success) return { createdAt: new Date(parsed.data[0]), _id: parsed.data[1] };
    context.addIssue({ code: 'custom', message: cursorFault });
    return z.NEVER;
  });

function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const query = z.strictObject(
  {
    kind: z
      .enum(deliveryKinds, `kind must be one of ${deliveryKinds.join(', ')}`)
      .optional()
      .meta({ description: 'Only deliveries of this kind.' }),
    targetId: z.guid('Invalid target ID format').toLowerCase().optional().meta({
      description: 'Only deliveries to this webhook, xAPI destination or LTI platform.',
    }),
    status: deliveryStatus.optional().meta({ description: 'Only deliveries with this status.' }),
    lessonId: z.guid('Invalid lesson ID format').toLowerCase().optional().meta({
      description: 'Only deliveries about this lesson.',
    }),
    learnerId: z.string().max(255, 'learnerId must be at most 255 characters').optional().meta({
      description: 'Only deliveries about this `learnerId` or `ltiUserId`.',
    }),
    limit: pageLimit('deliveries'),
    cursor: cursor.optional().meta({
      description: cursorDescription,
      override: { type: 'string', maxLength: 300 },
    }),
  },
  { error: unknownParameter },
);

function present({ createdAt, attempts, ...delivery }: AnyDelivery): z.input<typeof deliveryBody> {
  return {
    ...delivery,
    createdAt: createdAt.toISOString(),
    attempts: attempts.map(({ at, milliseconds, status, error, response }) => ({
      at: at.toISOString(),
      ...{ milliseconds, status, error, response },
    })),
  };
}

/** GET /api/deliveries */
export const listDeliveriesEndpoint = defineEndpoint(
  {
    ...common,
    method: 'get',
    path: '/api/deliveries',
    access: apiAccess,
    query,
    audit: 'delivery.read',
    operationId: 'listDeliveries',
    summary: 'List deliveries',
    description:
      'Everything that Lectern sent for the organization, or will send: events for webhooks, xAPI statements and ' +
      'grades, the newest first, with their attempts. Follow `nextCursor` until it is null.',
    responses: {
      200: json('A page of deliveries.', deliveryList, {
        one: { value: { deliveries: [exampleDelivery], nextCursor: null } },
      }),
    },
  },
  ({ db }: { db: Database }) =>
    async ({ caller, query: { limit, cursor: after = null, ...filters } }) => {
      const selection = { organizationId: caller.organization._id, ...filters };
      const found = await listAllDeliveries(db, selection, { after, limit: limit + 1 });
      const shown = found.slice(0, limit);
      const last = found.length > limit ? shown.at(-1) : undefined;
      const next = last && Buffer.from(JSON.stringify([last.createdAt.getTime(), last.id]));
      return {
        status: 200,
        body: { deliveries: shown.map(present), nextCursor: next?.toString('base64url') ?? null },
      };
    },
);

function changeEndpoint(
  { name, summary, description }: { name: 'resend' | 'dismiss'; summary: string; description: string },
  change: (db: Database, organizationId: string, ids: readonly string[]) => Promise<number>,
) {
  return defineEndpoint(
    {
      ...common,
      method: 'post',
      path: `/api/deliveries/:deliveryId/${name}`,
      access: apiAccess,
      params: z.object({
        deliveryId: z
          .string('Invalid delivery ID format')
          .regex(/^(?:[a-z]{3}_)?[0-9a-f-]{36}$/, 'Invalid delivery ID format')
          .meta({ description: 'Id of the delivery.' }),
      }),
      audit: `delivery.${name}`,
      operationId: `${name}Delivery`,
      summary,
      description,
      responses: {
        202: json('The delivery.', deliveryBody, { one: { value: exampleDelivery } }),
        404: failure('There is no such delivery, or it belongs to another organization.', notFoundText),
      },
    },
    ({ db }: { db: Database }) =>
      async ({ caller, params: { deliveryId } }) => {
        const organizationId = caller.organization._id;
        await change(db, organizationId, [deliveryId]);
        const delivery = await findAnyDelivery(db, organizationId, deliveryId);
        if (delivery === null) throw new LecternError('NOT_FOUND', notFoundText);
        return { status: 202, body: present(delivery) };
      },
  );
}

/** In the order in which requests match them. */
export const deliveryEndpoints = [
  changeEndpoint(
    {
      name: 'resend',
      summary: 'Send a delivery again',
      description: 'Queues it again, in any status.',
    },
    resendAny,
  ),
  changeEndpoint(
    {
      name: 'dismiss',
      summary: 'Dismiss a delivery',
      description:
        'Lectern no longer sends a waiting or failed delivery. A grade can be dismissed only after it has failed.',
    },
    dismissAny,
  ),
  listDeliveriesEndpoint,
] as const;
