import { errors, jwtVerify } from 'jose';
import type { CryptoKey, JWTPayload } from 'jose';
import { KeysUnavailable, UnknownKey } from './platform-keys.ts';
import { LaunchFault } from './faults.ts';

/** The tolerated clock skew. */
const toleranceSeconds = 60;

/** As long as a login waits for its launch. */
const maxAgeSeconds = 600;

export interface ExpectedToken {
  issuer: string;
  clientId: string;
  nonce: string;
  /** Returns the platform's key with an id. @throws {UnknownKey | KeysUnavailable} */
  findKey: (kid: string) => Promise<CryptoKey>;
}

/**
 * Checks a platform's id_token (1EdTech Security Framework 1.1, 5.1.3): algorithm, key, signature, issuer, audience,
 * times, and the nonce of the login.
 *
 * @returns its claims.
 * @throws {LaunchFault}
 */
export async function verifyIdToken(
  token: string,
  { issuer, clientId, nonce, findKey }: ExpectedToken,
): Promise<JWTPayload> {
  const claims = await verify(token, { issuer, clientId, findKey });
  const { aud } = claims;
  // Some platforms send null for absent claims.
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
      maxTokenAge: maxAgeSeconds,
      requiredClaims: ['exp'],
    });
    return payload;
  } catch (error) {
    throw toLaunchFault(error);
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

function toLaunchFault(error: unknown): unknown {
  if (error instanceof errors.JOSEAlgNotAllowed) return new LaunchFault('wrong_algorithm');
  if (error instanceof errors.JWSSignatureVerificationFailed) return new LaunchFault('bad_signature');
  if (error instanceof errors.JWTExpired) {
    return new LaunchFault(error.claim === 'exp' ? 'token_expired' : 'token_too_old', clocks(error.payload));
  }
  if (error instanceof errors.JWTClaimValidationFailed) return faultOfClaim(error);
  return error instanceof errors.JOSEError ? new LaunchFault('malformed_token', {}, error) : error;
}

function faultOfClaim({ claim, reason, payload }: errors.JWTClaimValidationFailed): LaunchFault {
  if (claim === 'iss') return new LaunchFault('wrong_issuer', { sent: payload.iss });
  if (claim === 'aud') return new LaunchFault('wrong_audience', { sent: payload.aud });
  if (reason === 'check_failed') return new LaunchFault('token_from_future', clocks(payload));
  return new LaunchFault('malformed_claims', { claim });
}

/** Returns times for the log, so that operators see which clock is wrong. */
function clocks({ iat, nbf, exp }: JWTPayload): Record<string, unknown> {
  return { iat, nbf, exp, now: Math.floor(Date.now() / 1000) };
}
