import type { RouterContext } from '@koa/router';
import type { AuditAction, AuditActor, AuditDetails, AuditTarget } from '../../shared/models/audit-entry.ts';
import type { AuditLog } from '../../shared/audit/audit-log.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { learnerSubject, pseudonymOf } from '../../shared/tokens/learner-subject.ts';
import type { LearnerSubject } from '../../shared/tokens/learner-subject.ts';
import { clientIp } from './client-ip.ts';
import { requestValue } from './context.ts';
import type { RequestState } from './context.ts';

export interface AuditDependencies {
  audit: Pick<AuditLog, 'record' | 'recordNow'>;
  secrets: Pick<Secrets, 'keyPepper'>;
}

/** The organization whose log records a request, and the request's actor. Authentication sets both. */
export const auditedCaller = requestValue<{
  organizationId: string;
  actor: AuditActor;
}>('audited caller');

/** The target and details that a handler sets, where path and response do not have them. */
export const auditedChange = requestValue<{
  target?: AuditTarget;
  details?: AuditDetails;
}>('audited change');

/** The source of an entry whose target and details no handler has set. */
interface AuditedRequest {
  /** Path and query as the endpoint parsed them, unlike `ctx.query`, which is unchecked. */
  params?: unknown;
  query?: unknown;
  /** The handler's reply. */
  reply?: object;
}

/** Methods that change nothing: their entries need not be stored before the response. */
const reading = ['GET', 'HEAD'];

type Ids = Record<string, string | undefined>;

/**
 * Records a successful request. A request that changes something gets its response only after MongoDB has the entry. A
 * request without a caller changed nothing: it is a logout without a session, or a `HEAD`.
 *
 * @param waits whether to wait for MongoDB; by default for requests that change something.
 */
export async function auditRequest(
  { audit, secrets }: AuditDependencies,
  ctx: RouterContext<RequestState>,
  action: AuditAction,
  { params, query, reply = {} }: AuditedRequest,
  waits = !reading.includes(ctx.method),
): Promise<void> {
  const caller = auditedCaller.find(ctx);
  if (caller === undefined) return;
  const { organizationId, actor } = caller;
  const { target, details } = auditedChange.find(ctx) ?? {};
  const path = idsOf(params);
  const ids = { ...idsOf(query), ...path };
  const learner = learnerOf(organizationId, path, ids);
  const named =
    learner === null
      ? resourceOf(path, reply)
      : { type: 'learner', id: pseudonymOf(secrets.keyPepper, learner) };
  const entry = {
    action,
    actor,
    target: target ?? named,
    details: { ...detailsOf(ids), ...details },
    // An operator's is no business of the organization whose log this is.
    ip: actor.type === 'operator' ? null : clientIp(ctx),
    requestId: ctx.state.requestId,
  };
  if (waits) await audit.recordNow(organizationId, entry);
  else audit.record(organizationId, entry);
}

/** Returns the texts among parsed parameters. */
function idsOf(parsed: unknown): Ids {
  const texts = Object.entries(parsed ?? {}).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(texts);
}

/**
 * Returns the learner that a request names: an integrator's, or a user of an LTI platform. The path takes precedence
 * over the query. In a query, `platformId` makes `learnerId` the id of a user of that platform.
 */
function learnerOf(organizationId: string, path: Ids, { platformId, ...ids }: Ids): LearnerSubject | null {
  if (path.learnerId !== undefined) return learnerSubject(organizationId, path.learnerId, null);
  const id = path.ltiUserId ?? ids.learnerId;
  if (id === undefined || (path.ltiUserId !== undefined && platformId === undefined)) return null;
  return learnerSubject(organizationId, id, platformId);
}

/** Returns the object that the end of a path names, or that the request created. */
function resourceOf(path: Ids, reply: object): AuditTarget | null {
  const created = ('body' in reply ? reply.body : {}) as { id?: unknown };
  const [name, id = created.id] = Object.entries(path).at(-1) ?? [];
  return typeof id === 'string' ? { type: name?.replace(/Id$/, '') ?? 'created', id } : null;
}

/** Returns the other ids of a request. Ids of learners and courses are not among them. */
function detailsOf(ids: Ids): AuditDetails {
  const names = ['lessonId', 'versionId', 'webhookId', 'platformId'];
  return Object.fromEntries(names.flatMap((name) => (ids[name] === undefined ? [] : [[name, ids[name]]])));
}
