import { z } from 'zod';
import type { User } from '../../shared/models/user.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { passwordMatches } from '../../shared/platform/passwords.ts';
import type { AuditDependencies } from '../http/audit.ts';
import type { EndpointContext } from '../http/endpoint.ts';
import { throttledCheck } from './log-in-throttle.ts';
import { takeCode } from './two-step.ts';
import type { SessionDependencies } from './user-sessions.ts';

export const passwordText = 'The password is wrong';
export const codeText = 'The code is wrong, or was used before';
const passwordNeededText = 'password is required: your own';
const codeNeededText = 'code is required, because your two-step login is on';

export const password = z.string('password is required').max(1000, 'password is too long');
export const code = z.string('code is required').max(50, 'code is too long');

/** The fields with which users confirm that they send a request themselves. */
export const confirmation = {
  password: password.meta({ description: 'Of the user who sends the request.' }),
  code: code.optional().meta({
    description: "Of that user's app, or a recovery code; if the user's two-step login is on.",
  }),
} as const;

/** The 422 of a confirmation. */
export const confirmationTexts = [passwordNeededText, codeNeededText, passwordText, codeText] as const;

export type ConfirmationDependencies = SessionDependencies & AuditDependencies;

/** Returns a function that checks the password of a logged-in user, and a code, so that a stolen session is not enough. */
export function ownPasswordCheck(deps: ConfirmationDependencies) {
  const checkPassword = throttledCheck(deps, 'password', passwordText);
  const checkCode = throttledCheck(deps, 'code', codeText);
  /** @throws {LecternError} INVALID_CONTENT, TOO_MANY_REQUESTS */
  return async (
    ctx: EndpointContext,
    user: User,
    given: { password?: string | undefined; code?: string | undefined },
  ): Promise<void> => {
    const { password: own, code: ownCode } = given;
    if (own === undefined) throw new LecternError('INVALID_CONTENT', passwordNeededText);
    if (user.twoStep !== null && ownCode === undefined)
      throw new LecternError('INVALID_CONTENT', codeNeededText);
    await checkPassword(ctx, user, () => passwordMatches(own, user.passwordHash, ctx.state.signal));
    if (user.twoStep !== null) await checkCode(ctx, user, () => takeCode(deps, user, ownCode ?? ''));
  };
}
