import { LRUCache } from 'lru-cache';
import type { AuditLog } from '../../shared/audit/audit-log.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { pseudonymOf } from '../../shared/tokens/learner-subject.ts';
import { learnerOfToken, tokenIdOf } from '../../shared/tokens/player-tokens.ts';
import type { PlayerToken } from '../../shared/tokens/player-tokens.ts';
import { clientIp } from '../http/client-ip.ts';
import type { RequestContext } from '../http/context.ts';

export interface TokenUseDependencies {
  audit: Pick<AuditLog, 'record'>;
  secrets: Pick<Secrets, 'keyPepper'>;
}

/** The tokens whose use is recorded, of one process. A forgotten one is recorded again. */
const maxTokens = 50_000;
const used = new WeakMap<object, LRUCache<string, true>>();

/** Records the first use of a learner's token in this process: whoever holds the token can read the learner's answers. */
export function recordFirstUse(
  { audit, secrets }: TokenUseDependencies,
  ctx: RequestContext,
  token: PlayerToken,
  text: string,
): void {
  const learner = learnerOfToken(token);
  if (learner === null) return;
  const known = used.get(audit) ?? new LRUCache<string, true>({ max: maxTokens });
  used.set(audit, known);
  const id = tokenIdOf(text);
  if (known.has(id)) return;
  const { organizationId, lessonId, kind } = token;
  audit.record(organizationId, {
    action: 'token.use',
    actor: { type: 'token', id },
    target: { type: 'learner', id: pseudonymOf(secrets.keyPepper, learner) },
    details: { lessonId, kind },
    ip: clientIp(ctx),
    requestId: ctx.state.requestId,
  });
  known.set(id, true);
}
