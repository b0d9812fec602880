import type { Middleware } from 'koa';
import { parseBearer } from '../../shared/credentials.ts';
import { LecternError } from '../../shared/errors.ts';
import { authenticate } from '../../shared/models/api-key.ts';
import type { Database } from '../../shared/models/database.ts';
import type { Secrets } from '../../shared/secrets.ts';

/**
 * Lets in whoever shows good API credentials, as their organization.
 *
 * @param message what all others are told, whatever is wrong with theirs.
 */
export function bearer(db: Database, secrets: Secrets, message: string): Middleware {
  return async (ctx, next) => {
    const credentials = parseBearer(ctx.get('Authorization'));
    const organization = credentials === null ? null : await authenticate(db, secrets.keyPepper, credentials);
    if (organization === null) throw new LecternError('UNAUTHORIZED', message);
    ctx.state.organization = organization;
    await next();
  };
}
