import { errors, jwtVerify } from 'jose';
import type { CryptoKey, JWTPayload } from 'jose';
import { ltiId } from '../../shared/lti/claims.ts';
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
  /**
   * Returns the platform's key with an id. @throws {UnknownKey | KeysUnavailable}
   *
   * @param failed a key with this id that did not verify the signature: fetches a newer one if possible.
   */
  findKey: (kid: string, failed?: CryptoKey) => Promise<CryptoKey>;
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
  const claims = await verify(token, { issuer, findKey });
  const audiences = [claims.aud].flat().map((value) => ltiId.safeParse(value).data);
  if (!audiences.includes(clientId)) throw new LaunchFault('wrong_audience', { sent: claims.aud });
  // Some platforms send null for absent claims.
  const azp = claims['azp'] ?? undefined;
  if ((audiences.length > 1 || azp !== undefined) && ltiId.safeParse(azp).data !== clientId)
    throw new LaunchFault('wrong_authorized_party');
  if (claims.nonce === undefined) throw new LaunchFault('nonce_missing');
  if (claims.nonce !== nonce) throw new LaunchFault('wrong_nonce');
  return claims;
}

async function verify(
  token: string,
  { issuer, findKey }: Pick<ExpectedToken, 'issuer' | 'findKey'>,
): Promise<JWTPayload> {
  let failed: CryptoKey | undefined;
  const getKey = async ({ kid }: { kid?: unknown }) => (failed = await keyOf(kid, findKey, failed));
  try {
    const check = () =>
      jwtVerify(token, getKey, {
        algorithms: ['RS256'],
        issuer,
        clockTolerance: toleranceSeconds,
        maxTokenAge: maxAgeSeconds,
        requiredClaims: ['exp'],
      });
    // Some platforms replace a key and keep its id. Lectern then fetches their keys again, at most every ten seconds.
    const { payload } = await check().catch((error: unknown) => {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
      return check();
    });
    return payload;
  } catch (error) {
    throw toLaunchFault(error);
  }
}

async function keyOf(
  kid: unknown,
  findKey: ExpectedToken['findKey'],
  failed?: CryptoKey,
): Promise<CryptoKey> {
  if (typeof kid !== 'string' || kid === '') throw new LaunchFault('key_id_missing');
  try {
    return await findKey(kid, failed);
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
  if (reason === 'check_failed') return new LaunchFault('token_from_future', clocks(payload));
  return new LaunchFault('malformed_claims', { claim });
}

/** Returns times for the log, so that operators see which clock is wrong. */
function clocks({ iat, nbf, exp }: JWTPayload): Record<string, unknown> {
  return { iat, nbf, exp, now: Math.floor(Date.now() / 1000) };
}
