import { LecternError } from '../../shared/platform/errors.ts';
import type { ErrorCode } from '../../shared/platform/errors.ts';

/** The notices of pages for rejected launches: each has the messages `launch.<kind>.title` and `launch.<kind>.text`. */
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
const over: Fault = { error: 'FORBIDDEN', notice: 'again' };

/**
 * What keeps somebody from a launch, by the code that their page shows: in the order in which it is looked for.
 * docs/lti/troubleshooting.md says what to do about each.
 */
export const faults = {
  malformed_request: malformed,
  not_a_launch: { error: 'METHOD_NOT_ALLOWED', notice: 'again' },
  // The login, which the platform begins.
  login_incomplete: malformed,
  login_too_long: malformed,
  foreign_target: malformed,
  unknown_platform: distrusted,
  ambiguous_platform: distrusted,
  platform_not_approved: distrusted,
  cookies_blocked: { error: 'FORBIDDEN', notice: 'newTab' },
  // The launch itself: is it the answer to a login of this browser?
  platform_error: { error: 'FORBIDDEN', notice: 'platformRefused' },
  state_missing: malformed,
  token_missing: malformed,
  unknown_state: over,
  state_expired: over,
  replayed: over,
  state_mismatch: over,
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
  token_expired: over,
  token_too_old: over,
  token_from_future: over,
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
  // The choice of lessons for a course.
  no_accepted_type: { error: 'FORBIDDEN', notice: 'setUp' },
  not_for_learners: { error: 'FORBIDDEN', notice: 'notYours' },
  choice_expired: { error: 'NOT_FOUND', notice: 'selectionExpired' },
  // Anything else.
  too_many_requests: { error: 'TOO_MANY_REQUESTS', notice: 'tooMany' },
  server_error: { error: 'INTERNAL_ERROR', notice: 'serverError' },
} satisfies Record<string, Fault>;
export type FaultCode = keyof typeof faults;

/** A login or launch is refused. */
export class LaunchFault extends LecternError {
  readonly fault: FaultCode;
  /** For the log: what it was that did not fit. Nothing secret, and nobody's name. */
  readonly details: Record<string, string>;

  constructor(fault: FaultCode, details: Record<string, unknown> = {}, cause?: unknown) {
    super(faults[fault].error, fault, { cause });
    this.fault = fault;
    this.details = Object.fromEntries(Object.entries(details).map(([name, value]) => [name, shortOf(value)]));
  }
}

/** The one fault that the browser's user can mend: by the same login, in a tab of its own. */
export class CookiesBlocked extends LaunchFault {
  /** The fields that the platform began the login with. It was asked for nothing yet. */
  readonly login: Record<string, string>;

  constructor(login: Record<string, string>) {
    super('cookies_blocked', { issuer: login.iss });
    this.login = login;
  }
}

/** Platforms send what they like. */
function shortOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  return (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 200);
}

/** The code of a page that says why there is no lesson. */
export function faultOf(failure: LecternError): FaultCode {
  if (failure instanceof LaunchFault) return failure.fault;
  if (failure.code === 'TOO_MANY_REQUESTS') return 'too_many_requests';
  if (failure.code === 'METHOD_NOT_ALLOWED') return 'not_a_launch';
  return failure.expose ? 'malformed_request' : 'server_error';
}
