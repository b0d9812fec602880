import { isSameLearner } from './boot.ts';
import type { LessonBoot } from './boot.ts';
import type { SessionClient } from './session-client.ts';
import { claimsOf } from './token-keeper.ts';

/** Milliseconds. */
const retryPause = 5000;
const minute = 60_000;
/** How long before its end the address of media and widgets is made anew. */
const contentNotice = 10 * minute;
const longestTimer = 24 * 60 * minute;

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
 * Has the address of media and widgets made anew before it ends.
 *
 * @param now the server's clock
 */
export function renewContent(
  { expiresAt }: Pick<LessonBoot['content'], 'expiresAt'>,
  client: Pick<SessionClient, 'content' | 'now'>,
  onRenewed: (base: string) => void,
): void {
  const left = Date.parse(expiresAt) - client.now();
  const pause = Math.max(minute, Math.min(left - contentNotice, longestTimer));
  setTimeout(() => {
    void client.content().then((content) => {
      if (content !== undefined) onRenewed(content.base);
      renewContent(content ?? { expiresAt }, client, onRenewed);
    });
  }, pause);
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
