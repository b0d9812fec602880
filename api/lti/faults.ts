import { LecternError } from '../../shared/platform/errors.ts';
import type { ErrorCode } from '../../shared/platform/errors.ts';

/** The notices on pages of rejected launches. Each has the messages `launch.<kind>.title` and `launch.<kind>.text`. */
export type NoticeKind =
  | 'again'
  | 'setUp'
  | 'noLesson'
  | 'notAvailable'
  | 'notYours'
  | 'selectionExpired'
  | 'platformAway'
  | 'platformRefused'
  | 'newTab'
  | 'cookies'
  | 'tooMany'
  | 'serverError';

interface Fault {
  error: ErrorCode;
  notice: NoticeKind;
}

const malformed: Fault = { error: 'BAD_REQUEST', notice: 'setUp' };
const distrusted: Fault = { error: 'FORBIDDEN', notice: 'setUp' };
const outdated: Fault = { error: 'FORBIDDEN', notice: 'again' };

/**
 * The reasons for rejecting a launch, by the code that the page shows, in the order of the checks.
 * docs/lti/troubleshooting.md has the remedy for each.
 */
export const faults = {
  malformed_request: malformed,
  not_a_launch: { error: 'METHOD_NOT_ALLOWED', notice: 'again' },
  // The login.
  login_incomplete: malformed,
  login_too_long: malformed,
  foreign_target: malformed,
  unknown_platform: distrusted,
  ambiguous_platform: distrusted,
  platform_not_approved: distrusted,
  cookies_blocked: { error: 'FORBIDDEN', notice: 'newTab' },
  // The launch: does it belong to a login of this browser?
  platform_error: { error: 'FORBIDDEN', notice: 'platformRefused' },
  state_missing: malformed,
  token_missing: malformed,
  unknown_state: outdated,
  state_expired: outdated,
  replayed: outdated,
  state_mismatch: outdated,
  browser_not_recognized: { error: 'FORBIDDEN', notice: 'cookies' },
  // Its id_token.
  malformed_token: malformed,
  wrong_algorithm: distrusted,
  key_id_missing: distrusted,
  unknown_key: distrusted,
  platform_keys_unavailable: { error: 'BAD_GATEWAY', notice: 'platformAway' },
  bad_signature: distrusted,
  wrong_issuer: distrusted,
  wrong_audience: distrusted,
  wrong_authorized_party: distrusted,
  token_expired: outdated,
  token_too_old: outdated,
  token_from_future: outdated,
  nonce_missing: distrusted,
  wrong_nonce: distrusted,
  // Its message.
  wrong_version: malformed,
  wrong_message_type: malformed,
  unknown_deployment: distrusted,
  target_mismatch: distrusted,
  resource_link_missing: malformed,
  malformed_claims: malformed,
  // Its lesson.
  no_lesson: { error: 'NOT_FOUND', notice: 'noLesson' },
  lesson_not_found: { error: 'NOT_FOUND', notice: 'notAvailable' },
  lesson_not_available: { error: 'NOT_FOUND', notice: 'notAvailable' },
  // Deep linking.
  no_accepted_type: { error: 'FORBIDDEN', notice: 'setUp' },
  not_for_learners: { error: 'FORBIDDEN', notice: 'notYours' },
  choice_expired: { error: 'NOT_FOUND', notice: 'selectionExpired' },
  // Anything else.
  too_many_requests: { error: 'TOO_MANY_REQUESTS', notice: 'tooMany' },
  server_error: { error: 'INTERNAL_ERROR', notice: 'serverError' },
} satisfies Record<string, Fault>;
export type FaultCode = keyof typeof faults;

/** Rejects a login or a launch. */
export class LaunchFault extends LecternError {
  readonly fault: FaultCode;
  /** The invalid values, for the log. They must hold no secrets and no names of people. */
  readonly details: Record<string, string>;

  constructor(fault: FaultCode, details: Record<string, unknown> = {}, cause?: unknown) {
    super(faults[fault].error, fault, { cause });
    this.fault = fault;
    this.details = Object.fromEntries(
      Object.entries(details).map(([name, value]) => [name, excerptOf(value)]),
    );
  }
}

/** Rejects a login whose cookies are blocked. The user can repeat it in a new tab. */
export class CookiesBlocked extends LaunchFault {
  /** The fields of the login, which was not forwarded to the platform. */
  readonly login: Record<string, string>;

  constructor(login: Record<string, string>) {
    super('cookies_blocked', { issuer: login.iss });
    this.login = login;
  }
}

/** Bounds what platforms can write into the log. */
function excerptOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 200);
}

/** Returns the code that the page of a failure shows. */
export function faultOf(failure: LecternError): FaultCode {
  if (failure instanceof LaunchFault) return failure.fault;
  if (failure.code === 'TOO_MANY_REQUESTS') return 'too_many_requests';
  if (failure.code === 'METHOD_NOT_ALLOWED') return 'not_a_launch';
  return failure.expose ? 'malformed_request' : 'server_error';
}
