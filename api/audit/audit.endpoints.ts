import { Readable } from 'node:stream';
import { Types } from 'mongoose';
import { z } from 'zod';
import { auditOrders, readAudit } from '../../shared/models/audit-entry.ts';
import type { AuditEntry, AuditEntryDb, AuditPosition } from '../../shared/models/audit-entry.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { learnerSubject, pseudonymOf } from '../../shared/tokens/learner-subject.ts';
import { apiAccess } from '../accounts/access.ts';
import { defineEndpoint, unknownParameter, written } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { learnerId, platformId } from '../http/learner-ids.ts';
import { cursorDescription, cursorFault, pageLimit } from '../http/pagination.ts';
import { json, time } from '../http/responses.ts';

const entryBody = z
  .strictObject({
    id: z.string().meta({ description: 'The place in the log.' }),
    at: time,
    action: z.string().meta({ description: 'Such as `learner.erase`; docs/privacy.md lists them.' }),
    actor: z.strictObject({
      type: z.enum(['key', 'user', 'operator', 'token', 'system']),
      id: z.string().meta({
        description: 'The public key, the user’s id, login and host of an operator, or the id of a token.',
      }),
    }),
    target: z
      .strictObject({
        type: z.string(),
        id: z.string().meta({ description: 'For `learner` a pseudonym; otherwise an id.' }),
      })
      .nullable(),
    details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
    ip: z.string().nullable().meta({ description: 'An IPv4 address or an IPv6 network.' }),
    requestId: z.string().nullable(),
  })
  .meta({ id: 'AuditEntry' });

const page = z
  .strictObject({
    entries: z.array(entryBody),
    nextCursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
  })
  .meta({ id: 'AuditPage' });

const timeFault = (name: string) => `${name} must be an ISO 8601 time with an offset`;
const position = /^(\d{1,14})-([0-9a-f]{24})$/;

const timeOf = (name: string) =>
  z.iso
    .datetime({ offset: true, error: timeFault(name) })
    .transform((text) => new Date(text))
    .optional();

const query = z.strictObject(
  {
    since: timeOf('since').meta({ description: 'Only entries from this time on.' }),
    until: timeOf('until').meta({ description: 'Only entries before this time.' }),
    action: z
      .string()
      .regex(/^[a-z]+\.[a-z_]+$/, 'action must be an action, such as learner.erase')
      .optional()
      .meta({ description: 'Only entries with this action.' }),
    actorId: z.string().max(255, 'actorId must be at most 255 characters').optional().meta({
      description: 'Only entries of this actor.',
    }),
    learnerId: learnerId.optional().meta({
      description: 'Only entries about this learner. With `platformId`, the user of an LTI platform.',
    }),
    platformId: platformId.optional().meta({
      description: 'The platform of the user that `learnerId` names. Case is ignored.',
    }),
    order: z
      .enum(auditOrders, `order must be one of ${auditOrders.join(', ')}`)
      .default('oldest')
      .meta({ description: 'Which entries come first. Keep it for the pages of a list.' }),
    limit: pageLimit('entries', { maximum: 1000, byDefault: 100 }),
    cursor: z
      .string(cursorFault)
      .regex(position, cursorFault)
      .transform((text): AuditPosition => {
        const [, milliseconds = '', id = ''] = position.exec(text) ?? [];
        return { at: new Date(Number(milliseconds)), _id: new Types.ObjectId(id) };
      })
      .optional()
      .meta({ description: cursorDescription }),
  },
  { error: unknownParameter },
);

const exampleEntry: z.input<typeof entryBody> = {
  id: '1795252471027-6743c1e7a1b2c3d4e5f60718',
  at: '2026-11-21T09:14:31.027Z',
  action: 'progress.read',
  actor: { type: 'key', id: 'lkp_3q2R8vX1nB6kT0yWc5LmZs7d' },
  target: { type: 'learner', id: 'mJ0u5n1cXo3c0f0f9c0e7fUe3bYH1iVnGmUoH0y1xq4' },
  details: { lessonId: '319d284d-1f31-40a5-b1b7-f71e82a8f82d' },
  ip: '192.0.2.7',
  requestId: '8d8c4760-c219-4422-bda9-0063fdfb6ce8',
};

function idOf({ at, _id }: AuditPosition): string {
  return `${at.getTime()}-${_id.toHexString()}`;
}

function present({
  organizationId: _organization,
  _id,
  at,
  ...entry
}: AuditEntry): z.input<typeof entryBody> {
  return { id: idOf({ at, _id }), at: at.toISOString(), ...entry };
}

const ndjson = 'application/x-ndjson';

interface AuditReadDependencies {
  db: AuditEntryDb;
  secrets: Pick<Secrets, 'keyPepper'>;
}

/** GET /api/audit */
export const listAudit = defineEndpoint(
  {
    method: 'get',
    path: '/api/audit',
    access: apiAccess,
    scope: 'audit',
    audit: 'audit.read',
    errors: apiErrors(),
    invalid: 'INVALID_CONTENT',
    query,
    operationId: 'listAudit',
    tag: 'Audit',
    summary: 'Read the audit log',
    description:
      'Every change by API and command line, and every reading of learners’ data, the oldest entry first unless ' +
      '`order` says otherwise. An entry has actor, action, target, time and IP address. Learners appear by pseudonyms; `learnerId` finds one. Entries are kept ' +
      `for 400 days. With \`Accept: ${ndjson}\`, all entries come as lines, without pages.`,
    responses: {
      200: {
        ...json('A page of entries.', page, {
          one: { value: { entries: [exampleEntry], nextCursor: null } },
        }),
        alternatives: { [ndjson]: { schema: { type: 'string' } } },
      },
    },
  },
  ({ db, secrets }: AuditReadDependencies) =>
    async ({
      ctx,
      caller,
      query: { limit, cursor: after = null, order, learnerId, platformId, ...filters },
    }) => {
      const organizationId = caller.organization._id;
      const learner =
        learnerId && pseudonymOf(secrets.keyPepper, learnerSubject(organizationId, learnerId, platformId));
      const entries = readAudit(db, organizationId, { ...filters, learner }, { after, order });
      if (ctx.accepts('json', ndjson) === ndjson) {
        ctx.type = ndjson;
        ctx.body = Readable.from(linesOf(entries));
        return written;
      }
      const found: AuditEntry[] = [];
      for await (const entry of entries) {
        found.push(entry);
        if (found.length > limit) break;
      }
      const shown = found.slice(0, limit);
      const last = found.length > limit ? shown.at(-1) : undefined;
      return { status: 200, body: { entries: shown.map(present), nextCursor: last ? idOf(last) : null } };
    },
);

async function* linesOf(entries: AsyncIterable<AuditEntry>): AsyncGenerator<string> {
  for await (const entry of entries) yield `${JSON.stringify(present(entry))}\n`;
}
