import type { Middleware } from 'koa';
import { parseBearer } from '../../../shared/accounts/credentials.ts';
import { LecternError } from '../../../shared/platform/errors.ts';
import { authenticate } from '../../../shared/models/api-key.ts';
import type { CredentialsFault } from '../../../shared/models/api-key.ts';
import { clientAddress } from '../client-ip.ts';
import type { AppDependencies } from '../../dependencies.ts';

/** What `WWW-Authenticate` says of credentials that are not accepted; the body says the same of all. */
const malformed = 'The credentials must have the form PUBLIC_KEY.SECRET_KEY';
const faults: Record<CredentialsFault, string> = {
  unknown: 'The public key is unknown or the secret key is wrong',
  revoked: 'The credentials were revoked',
  expired: 'The credentials have expired',
};

/**
 * Lets in whoever shows good API credentials, as their organization, within the limits of requests: those of the key,
 * and those of the address for whoever fails. An address that is over its limit is refused before anything is looked
 * up, so that nobody can guess on.
 *
 * @param message the body's text for all others; only the header `WWW-Authenticate` tells faults apart.
 */
export function bearer(
  { db, secrets, rateLimits }: Pick<AppDependencies, 'db' | 'secrets' | 'rateLimits'>,
  message: string,
): Middleware {
  return async (ctx, next) => {
    const address = clientAddress(ctx);
    // Counted beforehand: of many guesses at once, too, no more than the limit reach the database.
    await rateLimits.perAddress.count(ctx, address);
    const header = ctx.get('Authorization');
    const credentials = parseBearer(header);
    if (credentials === null) {
      // Another scheme counts as no credentials (RFC 6750, 3.1).
      const isBearer = /^Bearer(?: |$)/i.test(header);
      throw new LecternError('UNAUTHORIZED', message, isBearer ? { invalidToken: malformed } : {});
    }
    const authentication = await authenticate(db, secrets.keyPepper, credentials);
    if ('fault' in authentication) {
      throw new LecternError('UNAUTHORIZED', message, { invalidToken: faults[authentication.fault] });
    }
    await rateLimits.perAddress.uncount(ctx, address);
    await rateLimits.perKey.count(ctx, credentials.publicKey);
    ctx.state.organization = authentication.organization;
    await next();
  };
}
