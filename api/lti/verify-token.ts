import { errors, jwtVerify } from 'jose';
import type { CryptoKey, JWTPayload } from 'jose';
import { KeysUnavailable, UnknownKey } from './platform-keys.ts';
import { LaunchFault } from './faults.ts';

/** What clocks may differ by. */
const toleranceSeconds = 60;

/** No older than the login that it answers may be. */
const mostSeconds = 600;

export interface ExpectedToken {
  issuer: string;
  clientId: string;
  nonce: string;
  /** Gives the platform's key of an id, or throws UnknownKey or KeysUnavailable. */
  findKey: (kid: string) => Promise<CryptoKey>;
}

/**
 * Checks a platform's id_token (1EdTech Security Framework 1.1, 5.1.3): the algorithm, which is never the token's
 * choice, key and signature, from whom and for whom it is, its times, and the nonce of the login. Gives its claims.
 *
 * @throws {LaunchFault}
 */
export async function verifyIdToken(
  token: string,
  { issuer, clientId, nonce, findKey }: ExpectedToken,
): Promise<JWTPayload> {
  const claims = await verify(token, { issuer, clientId, findKey });
  const { aud } = claims;
  // Some platforms send null for what there is not.
  const azp = claims['azp'] ?? undefined;
  const needsParty = Array.isArray(aud) && aud.length > 1;
  if ((needsParty || azp !== undefined) && azp !== clientId) throw new LaunchFault('wrong_authorized_party');
  if (claims.nonce === undefined) throw new LaunchFault('nonce_missing');
  if (claims.nonce !== nonce) throw new LaunchFault('wrong_nonce');
  return claims;
}

async function verify(
  token: string,
  { issuer, clientId, findKey }: Omit<ExpectedToken, 'nonce'>,
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, ({ kid }: { kid?: unknown }) => keyOf(kid, findKey), {
      algorithms: ['RS256'],
      issuer,
      audience: clientId,
      clockTolerance: toleranceSeconds,
      maxTokenAge: mostSeconds,
      requiredClaims: ['exp'],
    });
    return payload;
  } catch (error) {
    throw explain(error);
  }
}

async function keyOf(kid: unknown, findKey: ExpectedToken['findKey']): Promise<CryptoKey> {
  if (typeof kid !== 'string' || kid === '') throw new LaunchFault('key_id_missing');
  try {
    return await findKey(kid);
  } catch (error) {
    if (error instanceof UnknownKey) throw new LaunchFault('unknown_key', { kid: kid.slice(0, 100) });
    if (error instanceof KeysUnavailable) throw new LaunchFault('platform_keys_unavailable', {}, error);
    throw error;
  }
}

function explain(error: unknown): unknown {
  if (error instanceof errors.JOSEAlgNotAllowed) return new LaunchFault('wrong_algorithm');
  if (error instanceof errors.JWSSignatureVerificationFailed) return new LaunchFault('bad_signature');
  if (error instanceof errors.JWTExpired) {
    return new LaunchFault(error.claim === 'exp' ? 'token_expired' : 'token_too_old', clocks(error.payload));
  }
  if (error instanceof errors.JWTClaimValidationFailed) return explainClaim(error);
  return error instanceof errors.JOSEError ? new LaunchFault('malformed_token', {}, error) : error;
}

function explainClaim({ claim, reason, payload }: errors.JWTClaimValidationFailed): LaunchFault {
  if (claim === 'iss') return new LaunchFault('wrong_issuer', { sent: payload.iss });
  if (claim === 'aud') return new LaunchFault('wrong_audience', { sent: payload.aud });
  if (reason === 'check_failed') return new LaunchFault('token_from_future', clocks(payload));
  return new LaunchFault('malformed_claims', { claim });
}

/** For whoever looks which of two clocks is wrong. */
function clocks({ iat, nbf, exp }: JWTPayload): Record<string, unknown> {
  return { iat, nbf, exp, now: Math.floor(Date.now() / 1000) };
}
