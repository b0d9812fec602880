import { isSameLearner } from './boot.ts';
import type { LessonBoot } from './boot.ts';
import type { SessionClient } from './session-client.ts';
import { claimsOf } from './token-keeper.ts';

const retryPauseMs = 5000;
const minuteMs = 60_000;
/** How long before its expiry the URL of media and widgets is renewed: a paused video must still resume with the old one. */
const contentNoticeMs = 45 * minuteMs;

/** The reason for rejecting a token. */
export type TokenFault = 'token_invalid' | 'wrong_lesson' | 'not_available' | 'token_mismatch';

/**
 * Returns a function that checks a new token: it must be for the same learner and the version in play. It checks one
 * token at a time, and only the last of the waiting ones, so that a host that sends thousands causes few requests.
 */
export function tokenRenewal(
  boot: Pick<LessonBoot, 'session' | 'versionId'>,
  client: Pick<SessionClient, 'open'>,
  on: { renewed(this: void, token: string): void; rejected(this: void, fault: TokenFault): void },
): (token: string) => void {
  let latest = '';
  let isChecking = false;

  async function check(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    const token = latest;
    const opened = await client.open(token);
    isChecking = false;
    if (token !== latest) return check();
    if (typeof opened === 'number') {
      const fault = faultOf(opened);
      if (fault === undefined) setTimeout(() => token === latest && void check(), retryPauseMs);
      else on.rejected(fault);
      return;
    }
    const { versionId = boot.versionId } = claimsOf(token);
    if (isSameLearner(opened, boot.session) && versionId === boot.versionId) on.renewed(token);
    else on.rejected('token_mismatch');
  }

  return (token) => {
    latest = token;
    void check();
  };
}

/**
 * Renews the URLs of media, widgets and chunks before they expire. It checks the clock every minute and when the page is shown
 * again, because timers stop while a device sleeps.
 */
export function renewContent(
  first: Pick<LessonBoot['content'], 'expiresAt'>,
  client: Pick<SessionClient, 'content' | 'now'>,
  onRenewed: (content: LessonBoot['content']) => void,
): void {
  let expiry = Date.parse(first.expiresAt);
  let isRenewing = false;

  async function renewIfDue(): Promise<void> {
    if (isRenewing || expiry - client.now() > contentNoticeMs) return;
    isRenewing = true;
    const content = await client.content();
    isRenewing = false;
    if (content === undefined) return;
    expiry = Date.parse(content.expiresAt);
    onRenewed(content);
  }

  setInterval(() => void renewIfDue(), minuteMs);
  document.addEventListener('visibilitychange', () => void renewIfDue());
}

/** Returns the fault that a status means; undefined if a retry can help. */
function faultOf(status: number): TokenFault | undefined {
  const faults: Record<number, TokenFault> = {
    400: 'token_invalid',
    401: 'token_invalid',
    403: 'wrong_lesson',
    404: 'not_available',
  };
  return faults[status];
}
