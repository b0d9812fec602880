import { isSameLearner } from './boot.ts';
import type { LessonBoot } from './boot.ts';
import type { SessionClient } from './session-client.ts';
import { claimsOf } from './token-keeper.ts';

/** Milliseconds. */
const retryPause = 5000;
const minute = 60_000;
/**
 * How long before its end the address of media and widgets is renewed. What is loaded by it ends with it, and a video
 * that is paused has to go on.
 */
const contentNotice = 45 * minute;

/** Why a token was not taken. */
export type TokenFault = 'token_invalid' | 'wrong_lesson' | 'not_available' | 'token_mismatch';

/**
 * Takes tokens for the same learner and the version in play, and no others.
 *
 * @returns takes a token; a later one replaces one that is still being checked
 */
export function tokenRenewal(
  boot: Pick<LessonBoot, 'session' | 'versionId'>,
  client: Pick<SessionClient, 'open'>,
  on: { renewed(this: void, token: string): void; refused(this: void, fault: TokenFault): void },
): (token: string) => void {
  let latest = '';

  async function check(token: string): Promise<void> {
    const opened = await client.open(token);
    if (token !== latest) return;
    if (typeof opened === 'number') {
      const fault = faultOf(opened);
      if (fault === undefined) setTimeout(() => void check(token), retryPause);
      else on.refused(fault);
      return;
    }
    const { versionId = boot.versionId } = claimsOf(token);
    if (isSameLearner(opened, boot.session) && versionId === boot.versionId) on.renewed(token);
    else on.refused('token_mismatch');
  }

  return (token) => {
    latest = token;
    void check(token);
  };
}

/**
 * Renews the address of media and widgets before it expires. The clock is looked at every minute, and when the page is
 * shown again: timers stand still while a device sleeps, and an address expires nevertheless.
 */
export function renewContent(
  first: Pick<LessonBoot['content'], 'expiresAt'>,
  client: Pick<SessionClient, 'content' | 'now'>,
  onRenewed: (base: string) => void,
): void {
  let end = Date.parse(first.expiresAt);
  let isAsking = false;

  async function renewIfDue(): Promise<void> {
    if (isAsking || end - client.now() > contentNotice) return;
    isAsking = true;
    const content = await client.content();
    isAsking = false;
    if (content === undefined) return;
    end = Date.parse(content.expiresAt);
    onRenewed(content.base);
  }

  setInterval(() => void renewIfDue(), minute);
  document.addEventListener('visibilitychange', () => void renewIfDue());
}

/** Undefined where it makes sense to ask again. */
function faultOf(status: number): TokenFault | undefined {
  const faults: Record<number, TokenFault> = {
    400: 'token_invalid',
    401: 'token_invalid',
    403: 'wrong_lesson',
    404: 'not_available',
  };
  return faults[status];
}
