import { createHash, createSecretKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { z } from 'zod';
import { LecternError } from '../platform/errors.ts';
import { objectMembers } from '../platform/json-text.ts';
import { printJson, RawJson } from '../platform/raw-json.ts';
import type { SigningSecret } from '../platform/setting-forms.ts';
import type { LearnerSubject } from './learner-subject.ts';
import { maxTokenSeconds } from './sign-token-request.ts';

/**
 * Tokens that let a player load one lesson: JWTs (RFC 7519) signed with HS256. The header's `typ` distinguishes them. An
 * embed token names a learner of an integrator, a launch token one of an LTI platform. A preview token names none: it
 * shows one version, which may be a draft, and records nothing.
 */
export type PlayerToken = EmbedToken | LaunchToken | PreviewToken;

interface LessonToken {
  organizationId: string;
  lessonId: string;
  /** The pinned version; null for the latest published one at each load. */
  versionId: string | null;
  /** Unix time in seconds. */
  issuedAt: number;
  /** Unix time in seconds. */
  expiresAt: number;
}

export interface EmbedToken extends LessonToken {
  kind: 'embed';
  learnerId: string;
  /** The text of a JSON object, unchanged from the integrator's request. */
  userAttributes: string;
}

export interface LaunchToken extends LessonToken {
  kind: 'launch';
  ltiUserId: string;
  platformId: string;
  contextId: string | null;
  /** Why the launch is not recorded; missing if it is. */
  untracked?: 'anonymous' | 'preview' | 'observer' | undefined;
  /** The language that the platform requests, as a BCP 47 tag. */
  locale?: string | undefined;
  /** The platform's URL to return to. */
  returnUrl?: string | undefined;
  /** Whether the platform gets a grade; missing if not. */
  sendsGrade?: boolean | undefined;
  /** Origins whose pages may frame the lesson. */
  platformOrigins?: string[] | undefined;
}

export interface PreviewToken extends LessonToken {
  kind: 'preview';
  versionId: string;
}

/** Returns the id of a token in the audit log, which reveals nothing about it. */
export function tokenIdOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url').slice(0, 22);
}

/** Returns the learner of a token; null for a preview, which belongs to none. */
export function learnerOfToken(token: PlayerToken): LearnerSubject | null {
  const { organizationId } = token;
  switch (token.kind) {
    case 'embed':
      return { source: 'embed', organizationId, learnerId: token.learnerId };
    case 'launch':
      return { source: 'lti', organizationId, platformId: token.platformId, ltiUserId: token.ltiUserId };
    case 'preview':
      return null;
  }
}

type Unsigned<Token> = Omit<Token, 'kind' | 'issuedAt' | 'expiresAt'>;

const issuer = 'lectern';
const types = { embed: 'JWT', launch: 'lectern-launch+jwt', preview: 'lectern-preview+jwt' } as const;
type TokenType = (typeof types)[keyof typeof types];

/**
 * The maximum lifetimes. A preview is short, because anyone with the link sees the draft. They also limit what a stolen
 * signing secret can sign.
 */
const maxSeconds: Record<TokenType, number> = {
  [types.embed]: maxTokenSeconds,
  [types.launch]: maxTokenSeconds,
  [types.preview]: 3600,
};

/** The tolerated difference between the clocks of API processes. */
const clockSkewSeconds = 60;

/** Longer tokens are rejected before they are parsed; Lectern signs shorter ones only. */
const maxTokenLength = 16 * 1024;

const lessonClaims = {
  organizationId: z.string(),
  lessonId: z.string(),
  versionId: z.string().optional(),
};
const timeClaims = z.object({ iat: z.number(), exp: z.number() });
const embedClaims = z.object({
  ...lessonClaims,
  learnerId: z.string(),
  userAttributes: z.record(z.string(), z.unknown()),
});
const launchClaims = z.object({
  ...lessonClaims,
  ltiUserId: z.string(),
  platformId: z.string(),
  contextId: z.string().nullable(),
  untracked: z.enum(['anonymous', 'preview', 'observer']).optional(),
  locale: z.string().optional(),
  returnUrl: z.string().optional(),
  sendsGrade: z.boolean().optional(),
  platformOrigins: z.array(z.string()).optional(),
});
const previewClaims = z.object({ ...lessonClaims, versionId: z.string() });

/** Why a token is rejected. */
export type TokenFault =
  | 'Token expired'
  | 'Token issued in the future'
  | 'Token valid for too long'
  | 'Invalid signature'
  | 'Malformed token'
  | 'Invalid issuer'
  | 'Signing secret not configured'
  | 'Token revoked';

/** Reports a rejected token, with the code UNAUTHORIZED. */
export class TokenError extends LecternError {
  readonly reason: TokenFault;

  constructor(reason: TokenFault) {
    super('UNAUTHORIZED', `Token verification failed: ${reason}`, { invalidToken: reason });
    this.reason = reason;
  }
}

/** A signed token and its expiry. */
export interface SignedToken {
  token: string;
  expiresAt: Date;
}

/**
 * Signs an embed token with the first secret. docs/integrate.md lists its claims.
 *
 * @throws {LecternError} INTERNAL_ERROR if no signing secret is configured.
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
 * @throws {LecternError} INTERNAL_ERROR if no signing secret is configured.
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
 * @throws {LecternError} INTERNAL_ERROR if no signing secret is configured.
 */
export function signPreviewToken(
  ring: readonly SigningSecret[],
  { organizationId, lessonId, versionId }: Unsigned<PreviewToken>,
): SignedToken {
  return sign(ring, types.preview, { organizationId, lessonId, versionId }, maxSeconds[types.preview]);
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
 * Verifies a token of any kind and returns its claims. It does not check revocation: see
 * shared/models/token-revocation.ts.
 *
 * @throws {LecternError} UNAUTHORIZED "Token verification failed: <reason>".
 */
export function verifyPlayerToken(ring: readonly SigningSecret[], token: string): PlayerToken {
  return readToken(ring, token, {});
}

/** Returns the claims of a launch token, even if it has expired; null for anything else. */
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
  const { issuedAt, expiresAt } = checkTimes(typ, payload);
  if (typ === types.launch) {
    const { versionId = null, ...claims } = parseClaims(launchClaims, payload);
    return { kind: 'launch', ...claims, versionId, issuedAt, expiresAt };
  }
  if (typ === types.preview) {
    const claims = parseClaims(previewClaims, payload);
    return { kind: 'preview', ...claims, issuedAt, expiresAt };
  }
  const { versionId = null, ...claims } = parseClaims(embedClaims, payload);
  const userAttributes = objectMembers(payload).get('userAttributes') ?? '{}';
  return { kind: 'embed', ...claims, userAttributes, versionId, issuedAt, expiresAt };
}

/**
 * Returns the times of a token. An `iat` in the future would survive revocations until then.
 *
 * @throws {TokenError}
 */
function checkTimes(typ: TokenType, payload: string): Pick<LessonToken, 'issuedAt' | 'expiresAt'> {
  const { iat, exp } = parseClaims(timeClaims, payload);
  if (iat > Date.now() / 1000 + clockSkewSeconds) throw tokenFailure('Token issued in the future');
  if (exp - iat > maxSeconds[typ]) throw tokenFailure('Token valid for too long');
  return { issuedAt: iat, expiresAt: exp };
}

export function tokenFailure(reason: TokenFault): TokenError {
  return new TokenError(reason);
}

/** Verifies the signature; returns the token's `typ`, which the signature covers. */
function checkSignature(ring: readonly SigningSecret[], token: string, leniency: Leniency): TokenType {
  const { kid, typ } = readHeader(token);
  if (!isTokenType(typ)) throw tokenFailure('Malformed token');
  // Tokens of other software may lack a kid: then each secret is tried.
  const candidates = kid === undefined ? ring : ring.filter((one) => one.kid === kid);
  let fault: TokenFault = 'Invalid signature';
  for (const candidate of candidates) {
    try {
      jwt.verify(token, keyOf(candidate), { algorithms: ['HS256'], issuer, ...leniency });
      return typ;
    } catch (error) {
      fault = reasonOf(error);
      if (!isWrongSecret(error)) break;
    }
  }
  throw tokenFailure(fault);
}

function isTokenType(typ: string | undefined): typ is TokenType {
  return Object.values<string | undefined>(types).includes(typ);
}

const keys = new WeakMap<SigningSecret, KeyObject>();

/** Returns a cached key object: jsonwebtoken would first parse a string as PEM, which takes far longer than to sign. */
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
    // The header is not JSON.
  }
  throw tokenFailure('Malformed token');
}

function isWrongSecret(error: unknown): boolean {
  return error instanceof jwt.JsonWebTokenError && error.message === 'invalid signature';
}

/** jsonwebtoken's errors differ only in their messages. */
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
