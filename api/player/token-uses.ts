import { LRUCache } from 'lru-cache';
import { atMost } from '../../shared/platform/cache-size.ts';
import type { AuditLog } from '../../shared/audit/audit-log.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { pseudonymOf } from '../../shared/tokens/learner-subject.ts';
import { learnerOfToken, tokenIdOf } from '../../shared/tokens/player-tokens.ts';
import type { PlayerToken } from '../../shared/tokens/player-tokens.ts';
import { clientIp } from '../http/client-ip.ts';
import type { RequestContext } from '../http/context.ts';

/** Records of one process. A token that it has forgotten is recorded again. */
const maxTokens = 50_000;

/** Records the first use of each learner's token in this process: the holder can read the learner's answers. */
export class TokenUses {
  readonly #audit: Pick<AuditLog, 'record'>;
  readonly #keyPepper: Secrets['keyPepper'];
  readonly #known = new LRUCache<string, true>(atMost(maxTokens));

  constructor(audit: Pick<AuditLog, 'record'>, { keyPepper }: Pick<Secrets, 'keyPepper'>) {
    this.#audit = audit;
    this.#keyPepper = keyPepper;
  }

  /** @param text the token as it was sent. */
  record(ctx: RequestContext, token: PlayerToken, text: string): void {
    const learner = learnerOfToken(token);
    if (learner === null) return;
    const id = tokenIdOf(text);
    if (this.#known.has(id)) return;
    const { organizationId, lessonId, kind } = token;
    this.#audit.record(organizationId, {
      action: 'token.use',
      actor: { type: 'token', id },
      target: { type: 'learner', id: pseudonymOf(this.#keyPepper, learner) },
      details: { lessonId, kind },
      ip: clientIp(ctx),
      requestId: ctx.state.requestId,
    });
    this.#known.set(id, true);
  }
}
