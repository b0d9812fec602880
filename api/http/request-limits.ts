import { ConcurrencyLimit } from '../../shared/platform/concurrency-limit.ts';
import type { RequestContext } from './context.ts';
import { failure } from './responses.ts';
import { tooMany } from './retry-after.ts';

type Limited = Pick<RequestContext, 'res' | 'request' | 'state'>;

/**
 * After large requests, their place stays taken for several times as long as they occupy the process and MongoDB.
 * Otherwise those of one organization could occupy both all the time.
 */
const bytesPerMs = 500;
/** Less than others wait: a learner with the largest record is not refused. */
const maxRestMs = 1500;
/** Requests up to this size leave at once. */
const smallBytes = 64 * 1024;

const retryAfterSeconds = 2;
const wait = { maxWaitMs: 2000, retryAfterSeconds };
const ofLearnerText = 'Too many concurrent requests from this learner';
const ofOrganizationText = 'Too many concurrent requests of this organization';
const ofLaunchesText = 'Too many concurrent launches from this network';

/**
 * Limits of concurrent requests in this process. Bodies have at most 256 KiB and records at most 1 MiB, so these limits
 * also bound the memory of an organization.
 */
export class RequestLimits {
  readonly #learners = new ConcurrencyLimit({
    ...wait,
    concurrent: 2,
    waiting: 1000,
    refusal: ofLearnerText,
  });
  readonly #organizations = new ConcurrencyLimit({
    ...{ ...wait, concurrent: 16, waiting: 1000, refusal: ofOrganizationText },
  });
  readonly #launches = new ConcurrencyLimit({
    ...{ ...wait, concurrent: 32, waiting: 100, refusal: ofLaunchesText },
  });

  /**
   * Waits for a learner's turn, which lasts until the response is closed.
   *
   * @param learner identifies the record.
   * @throws {LecternError} TOO_MANY_REQUESTS
   */
  async enterLearner(learner: string, organizationId: string, ctx: Limited): Promise<void> {
    await enter(this.#learners, learner, ctx);
    await this.enterOrganization(organizationId, ctx);
  }

  /** Waits for the turn of a request for records of an organization. @throws {LecternError} TOO_MANY_REQUESTS */
  async enterOrganization(organizationId: string, ctx: Limited): Promise<void> {
    await enter(this.#organizations, organizationId, ctx);
  }

  /** Waits for the turn of a launch: any client can send one. @throws {LecternError} TOO_MANY_REQUESTS */
  async enterLaunch(ip: string, ctx: Limited): Promise<void> {
    await enter(this.#launches, ip, ctx);
  }
}

async function enter(limit: ConcurrencyLimit, owner: string, ctx: Limited): Promise<void> {
  const end = await limit.begin(owner, undefined);
  if (ctx.res.closed) end();
  else ctx.res.once('close', () => setTimeout(end, restMs(ctx)).unref());
}

/** Returns how long a request keeps its place after its end. */
function restMs({ request, state }: Limited): number {
  const bytes = (state.bodyBytes ?? 0) + (request.length || 0);
  // MongoDB stores the whole record again.
  const weight = request.method === 'GET' ? 1 : 2;
  return Math.min(maxRestMs, Math.max(0, weight * bytes - smallBytes) / bytesPerMs);
}

/** The response to a learner or an organization over the limits. */
export const busy = failure(
  'Too many requests per minute, or too many concurrent requests of this learner or organization. Retry after ' +
    '`Retry-After` seconds.',
  tooMany(ofLearnerText, retryAfterSeconds).message,
  tooMany(ofOrganizationText, retryAfterSeconds).message,
);
