import type { ServerResponse } from 'node:http';
import { ConcurrencyLimit } from '../../shared/platform/concurrency-limit.ts';
import { failure } from './responses.ts';
import { tooMany } from './retry-after.ts';

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
  readonly #learners = new ConcurrencyLimit({ ...wait, concurrent: 2, waiting: 16, refusal: ofLearnerText });
  readonly #organizations = new ConcurrencyLimit({
    ...{ ...wait, concurrent: 24, waiting: 1000, refusal: ofOrganizationText },
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
  async enterLearner(learner: string, organizationId: string, response: ServerResponse): Promise<void> {
    await enter(this.#learners, learner, response);
    await this.enterOrganization(organizationId, response);
  }

  /** Waits for the turn of a request for records of an organization. @throws {LecternError} TOO_MANY_REQUESTS */
  async enterOrganization(organizationId: string, response: ServerResponse): Promise<void> {
    await enter(this.#organizations, organizationId, response);
  }

  /** Waits for the turn of a launch: any client can send one. @throws {LecternError} TOO_MANY_REQUESTS */
  async enterLaunch(ip: string, response: ServerResponse): Promise<void> {
    await enter(this.#launches, ip, response);
  }
}

async function enter(
  limit: ConcurrencyLimit,
  owner: string,
  response: Pick<ServerResponse, 'closed' | 'once'>,
): Promise<void> {
  const end = await limit.begin(owner, undefined);
  if (response.closed) end();
  else response.once('close', end);
}

/** The response to a learner or an organization over the limits. */
export const busy = failure(
  'Too many requests per minute, or too many concurrent requests of this learner or organization. Retry after ' +
    '`Retry-After` seconds.',
  tooMany(ofLearnerText, retryAfterSeconds).message,
  tooMany(ofOrganizationText, retryAfterSeconds).message,
);
