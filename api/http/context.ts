import type { Logger } from '../../shared/platform/log.ts';
import type { Organization } from '../../shared/models/organization.ts';
import type { User } from '../../shared/models/user.ts';

/** What middleware leaves for those behind it; Koa's `ctx.state`. */
export interface RequestState {
  requestId: string;
  log: Logger;
  /** Whom the credentials stand for; there behind the authentication of a router. */
  organization: Organization;
  /** Whose session it is; there where a router takes sessions alone. */
  user: User;
  /** Aborted when nobody waits any more: the client is gone, or this process ends. */
  signal: AbortSignal;
}
