import type { Middleware } from 'koa';
import { parseBearer } from '../../shared/credentials.ts';
import { LecternError } from '../../shared/errors.ts';
import { authenticate } from '../../shared/models/api-key.ts';
import { clientAddress } from '../client-address.ts';
import type { AppDependencies } from '../dependencies.ts';

/**
 * Lets in whoever shows good API credentials, as their organization, within the limits of requests: those of the key,
 * and those of the address for whoever fails. An address that is over its limit is refused before anything is looked
 * up, so that nobody can guess on.
 *
 * @param message what all others are told, whatever is wrong with theirs.
 */
export function bearer(
  { db, secrets, rateLimits }: Pick<AppDependencies, 'db' | 'secrets' | 'rateLimits'>,
  message: string,
): Middleware {
  return async (ctx, next) => {
    const address = clientAddress(ctx);
    // Counted beforehand: of many guesses at once, too, no more than the limit reach the database.
    await rateLimits.perAddress.count(ctx, address);
    const credentials = parseBearer(ctx.get('Authorization'));
    const organization = credentials && (await authenticate(db, secrets.keyPepper, credentials));
    if (credentials === null || organization === null) throw new LecternError('UNAUTHORIZED', message);
    await rateLimits.perAddress.uncount(ctx, address);
    await rateLimits.perKey.count(ctx, credentials.publicKey);
    ctx.state.organization = organization;
    await next();
  };
}
