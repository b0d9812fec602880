import { createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { z } from 'zod';
import { LecternError } from '../platform/errors.ts';
import { objectMembers } from '../platform/json-text.ts';
import { printJson, RawJson } from '../platform/raw-json.ts';
import type { SigningSecret } from '../platform/setting-forms.ts';

/**
 * The tokens that let a player load one lesson: JWTs (RFC 7519), HS256. An embed token stands for a learner of an
 * integrator, and a launch token for a learner of an LTI platform. A preview token stands for no learner: it shows one
 * version, which may be a draft, and records nothing. The header's `typ` tells them apart.
 */

export type PlayerToken = EmbedToken | LaunchToken | PreviewToken;

interface TokenOfLesson {
  organizationId: string;
  lessonId: string;
  /** The version that is pinned; null for the newest published one at each load. */
  versionId: string | null;
  /** Unix time in seconds. */
  issuedAt: number;
  /** Unix time in seconds. */
  expiresAt: number;
}

export interface EmbedToken extends TokenOfLesson {
  kind: 'embed';
  learnerId: string;
  /** A JSON object, as text: exactly as the integrator wrote it. */
  userAttributes: string;
}

export interface LaunchToken extends TokenOfLesson {
  kind: 'launch';
  ltiUserId: string;
  platformId: string;
  contextId: string | null;
  /** Why nothing of the launch is recorded; absent where it is. */
  untracked?: 'anonymous' | 'preview' | undefined;
  /** What the platform asks for: the language of the page, as a BCP 47 tag. */
  locale?: string | undefined;
  /** The platform's address to go back to. */
  returnUrl?: string | undefined;
  /** Origins of the platform, whose pages may show the lesson. */
  platformOrigins?: string[] | undefined;
}

export interface PreviewToken extends TokenOfLesson {
  kind: 'preview';
  versionId: string;
}

type Unsigned<Token> = Omit<Token, 'kind' | 'issuedAt' | 'expiresAt'>;

const issuer = 'lectern';
const types = { embed: 'JWT', launch: 'lectern-launch+jwt', preview: 'lectern-preview+jwt' } as const;
type TokenType = (typeof types)[keyof typeof types];

/** Whoever has the link can see a draft, so it is short. */
const previewSeconds = 3600;

/** More than any token that Lectern signs. */
const maxTokenLength = 16 * 1024;

const claimsOfLesson = {
  organizationId: z.string(),
  lessonId: z.string(),
  versionId: z.string().optional(),
  iat: z.number(),
  exp: z.number(),
};
const embedClaims = z.object({
  ...claimsOfLesson,
  learnerId: z.string(),
  userAttributes: z.record(z.string(), z.unknown()),
});
const launchClaims = z.object({
  ...claimsOfLesson,
  ltiUserId: z.string(),
  platformId: z.string(),
  contextId: z.string().nullable(),
  untracked: z.enum(['anonymous', 'preview']).optional(),
  locale: z.string().optional(),
  returnUrl: z.string().optional(),
  platformOrigins: z.array(z.string()).optional(),
});
const previewClaims = z.object({ ...claimsOfLesson, versionId: z.string() });

/** What may be wrong with a token. */
export type TokenFault =
  | 'Token expired'
  | 'Invalid signature'
  | 'Malformed token'
  | 'Invalid issuer'
  | 'Signing secret not configured'
  | 'Token revoked';

/** UNAUTHORIZED, by a token. */
export class TokenError extends LecternError {
  readonly reason: TokenFault;

  constructor(reason: TokenFault) {
    super('UNAUTHORIZED', `Token verification failed: ${reason}`, { invalidToken: reason });
    this.reason = reason;
  }
}

/** A token as it is handed out, and when it ends. */
export interface SignedToken {
  token: string;
  expiresAt: Date;
}

/**
 * Signs an embed token with the first secret. Its claims are those of the contract's 2.3.
 *
 * @throws {LecternError} INTERNAL_ERROR when no signing secret is configured.
 */
export function signEmbedToken(
  ring: readonly SigningSecret[],
  { organizationId, lessonId, versionId, learnerId, userAttributes }: Unsigned<EmbedToken>,
  seconds: number,
): SignedToken {
  const claims = {
    lessonId,
    versionId: versionId ?? undefined,
    learnerId,
    organizationId,
    userAttributes: new RawJson(userAttributes),
  };
  return sign(ring, types.embed, claims, seconds);
}

/**
 * Signs a launch token with the first secret.
 *
 * @throws {LecternError} INTERNAL_ERROR when no signing secret is configured.
 */
export function signLaunchToken(
  ring: readonly SigningSecret[],
  { versionId, ...claims }: Unsigned<LaunchToken>,
  seconds: number,
): SignedToken {
  return sign(ring, types.launch, { ...claims, versionId: versionId ?? undefined }, seconds);
}

/**
 * Signs a preview token with the first secret. It expires in an hour.
 *
 * @throws {LecternError} INTERNAL_ERROR when no signing secret is configured.
 */
export function signPreviewToken(
  ring: readonly SigningSecret[],
  { organizationId, lessonId, versionId }: Unsigned<PreviewToken>,
): SignedToken {
  return sign(ring, types.preview, { organizationId, lessonId, versionId }, previewSeconds);
}

function sign(
  ring: readonly SigningSecret[],
  typ: TokenType,
  claims: Record<string, unknown>,
  seconds: number,
): SignedToken {
  const [signer] = ring;
  if (signer === undefined) throw new LecternError('INTERNAL_ERROR', 'No signing secret is configured');
  const iat = Math.floor(Date.now() / 1000);
  const exp = iat + seconds;
  const payload = printJson({ ...claims, iat, exp, iss: issuer });
  const header = { alg: 'HS256', typ, kid: signer.kid };
  const token = jwt.sign(payload, keyOf(signer), { algorithm: 'HS256', header });
  return { token, expiresAt: new Date(exp * 1000) };
}

/**
 * Checks a token of any kind and gives what it says. Whether it was revoked is not known here:
 * models/token-revocation.ts.
 *
 * @throws {LecternError} UNAUTHORIZED "Token verification failed: <reason>".
 */
export function verifyPlayerToken(ring: readonly SigningSecret[], token: string): PlayerToken {
  return readToken(ring, token, {});
}

/** What a launch token of ours says, though it may have ended; null for anything else. */
export function readExpiredLaunch(ring: readonly SigningSecret[], token: string): LaunchToken | null {
  try {
    const read = readToken(ring, token, { ignoreExpiration: true });
    return read.kind === 'launch' ? read : null;
  } catch {
    return null;
  }
}

type Leniency = Pick<jwt.VerifyOptions, 'ignoreExpiration'>;

function readToken(ring: readonly SigningSecret[], token: string, leniency: Leniency): PlayerToken {
  if (ring.length === 0) throw tokenFailure('Signing secret not configured');
  if (token.length > maxTokenLength) throw tokenFailure('Malformed token');
  const typ = checkSignature(ring, token, leniency);
  const payload = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8');
  if (typ === types.launch) {
    const { versionId = null, iat, exp, ...claims } = parseClaims(launchClaims, payload);
    return { kind: 'launch', ...claims, versionId, issuedAt: iat, expiresAt: exp };
  }
  if (typ === types.preview) {
    const { iat, exp, ...claims } = parseClaims(previewClaims, payload);
    return { kind: 'preview', ...claims, issuedAt: iat, expiresAt: exp };
  }
  const { versionId = null, iat, exp, ...claims } = parseClaims(embedClaims, payload);
  const userAttributes = objectMembers(payload).get('userAttributes') ?? '{}';
  return { kind: 'embed', ...claims, userAttributes, versionId, issuedAt: iat, expiresAt: exp };
}

/** The failure of a token; its reason ends the text that the contract sets. */
export function tokenFailure(reason: TokenFault): TokenError {
  return new TokenError(reason);
}

/** Gives the token's `typ`, which the signature covers. */
function checkSignature(ring: readonly SigningSecret[], token: string, leniency: Leniency): TokenType {
  const { kid, typ } = readHeader(token);
  if (!isTokenType(typ)) throw tokenFailure('Malformed token');
  // A token without a kid is somebody else's make; its signature still decides.
  const candidates = kid === undefined ? ring : ring.filter((one) => one.kid === kid);
  let failure = tokenFailure('Invalid signature');
  for (const candidate of candidates) {
    try {
      jwt.verify(token, keyOf(candidate), { algorithms: ['HS256'], issuer, ...leniency });
      return typ;
    } catch (error) {
      failure = tokenFailure(reasonOf(error));
      if (!isWrongSecret(error)) break;
    }
  }
  throw failure;
}

function isTokenType(typ: string | undefined): typ is TokenType {
  return Object.values<string | undefined>(types).includes(typ);
}

const keys = new WeakMap<SigningSecret, KeyObject>();

/** jsonwebtoken takes a string too, but first tries to read it as a PEM file, which takes far longer than to sign. */
function keyOf(secret: SigningSecret): KeyObject {
  const known = keys.get(secret);
  if (known !== undefined) return known;
  const key = createSecretKey(secret.secret, 'utf8');
  keys.set(secret, key);
  return key;
}

function readHeader(token: string): jwt.JwtHeader {
  try {
    const decoded = jwt.decode(token, { complete: true });
    if (decoded !== null) return decoded.header;
  } catch {
    // No JSON where there should be some.
  }
  throw tokenFailure('Malformed token');
}

function isWrongSecret(error: unknown): boolean {
  return error instanceof jwt.JsonWebTokenError && error.message === 'invalid signature';
}

/** jsonwebtoken tells its failures apart by their messages alone. */
function reasonOf(error: unknown): TokenFault {
  if (error instanceof jwt.TokenExpiredError) return 'Token expired';
  const { message } = error as Error;
  if (message.startsWith('jwt issuer invalid')) return 'Invalid issuer';
  if (/^(invalid signature|invalid algorithm|jwt signature is required)$/.test(message))
    return 'Invalid signature';
  return 'Malformed token';
}

function parseClaims<Schema extends z.ZodType>(schema: Schema, payload: string): z.output<Schema> {
  const parsed = schema.safeParse(JSON.parse(payload));
  if (!parsed.success) throw tokenFailure('Malformed token');
  return parsed.data;
}
