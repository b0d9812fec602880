import { z } from 'zod';
import { disableTwoStep } from '../../shared/models/user.ts';
import type { User } from '../../shared/models/user.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { objectFault } from '../../shared/platform/unknown-names.ts';
import { passwordMatches } from '../../shared/platform/passwords.ts';
import { defineEndpoint } from '../http/endpoint.ts';
import type { EndpointContext } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import * as example from '../http/examples.ts';
import { empty, failure, json } from '../http/responses.ts';
import { strictBody } from '../http/strict-body.ts';
import { sessionAccess } from './access.ts';
import { throttledCheck, tooManyLogIns } from './log-in-throttle.ts';
import { setAudited } from './session.endpoints.ts';
import { code, codeText, password, passwordText } from './own-password.ts';
import type { ConfirmationDependencies as TwoStepDependencies } from './own-password.ts';
import { enableWithCode, newTwoStepSetup, renewRecoveryCodes, takeCode } from './two-step.ts';
import { UserSessions } from './user-sessions.ts';

/* A user's own two-step login. Every change needs the password or a code, so that a stolen session cannot make it. */

const path = '/api/session/two-step';
const common = {
  path,
  access: sessionAccess,
  scope: null,
  errors: apiErrors(),
  invalid: 'INVALID_CONTENT',
  tag: 'Users',
} as const;

const currentCodeText = 'currentCode is required, because two-step login is on';
const offText = 'Two-step login is off';
const throttled = failure('Too many requests, or too many wrong tries in 15 minutes.', tooManyLogIns);
const codesBody = z
  .strictObject({
    recoveryCodes: z
      .array(z.string())
      .meta({ description: 'Each logs in once instead of a code. They are shown only once.' }),
  })
  .meta({ id: 'RecoveryCodes' });
const exampleCodes = { recoveryCodes: ['K7Q2M4P6R8', 'W3Z5B7H9N2'] };
const exampleSecret = 'A2B3C4D5E6F7A2B3C4D5E6F7A2B3C4D5';

/** The body and the failures of what needs a code of the app. */
const withCode = {
  body: strictBody(
    z.strictObject({ code }, { error: objectFault }),
    { confirmed: { value: { code: '492039' } } },
    [codeText],
  ),
  failures: { 409: failure('Two-step login is off.', offText), 429: throttled },
} as const;

/** Returns a function that uses a code of the app. */
function codeCheck(deps: TwoStepDependencies) {
  const check = throttledCheck(deps, 'code', codeText);
  return async (ctx: EndpointContext, user: User, given: string) => {
    if (user.twoStep === null) throw new LecternError('CONFLICT', offText);
    await check(ctx, user, () => takeCode(deps, user, given));
  };
}

/** POST /api/session/two-step */
export const setUpTwoStep = defineEndpoint(
  {
    ...common,
    method: 'post',
    // It changes nothing.
    audit: null,
    operationId: 'setUpTwoStep',
    summary: 'Begin to set up two-step login',
    description:
      'Returns a new secret for an authenticator app. Nothing changes until a code of the app confirms it.',
    responses: {
      200: json(
        'The secret.',
        z
          .strictObject({
            secret: z.string().meta({ description: 'In Base32, for typing.' }),
            uri: z.string().meta({ description: '`otpauth://…`, for a QR code.' }),
          })
          .meta({ id: 'TwoStepSetup' }),
        {
          setup: {
            value: {
              secret: exampleSecret,
              uri: `otpauth://totp/Lectern:ada%40acme.example?issuer=Lectern&secret=${exampleSecret}&algorithm=SHA1&digits=6&period=30`,
            },
          },
        },
      ),
    },
  },
  () =>
    ({ caller }) => ({ status: 200, body: newTwoStepSetup(caller.user) }),
);

/** PUT /api/session/two-step */
export const enableTwoStepEndpoint = defineEndpoint(
  {
    ...common,
    method: 'put',
    audit: 'user.enable_two_step',
    operationId: 'enableTwoStep',
    summary: 'Turn on two-step login',
    description:
      'Replaces an earlier secret and its recovery codes, and ends all other sessions of the user. This one continues ' +
      'with another cookie.',
    body: strictBody(
      z.strictObject(
        {
          password,
          code: code.meta({ description: 'Of the new secret.' }),
          currentCode: z
            .string('currentCode must be a string')
            .max(50, 'currentCode is too long')
            .optional()
            .meta({ description: 'Of the present secret, or a recovery code; if two-step login is on.' }),
          secret: z.string('secret is required').regex(/^[A-Z2-7]{32}$/, 'secret is not valid'),
        },
        { error: objectFault },
      ),
      { confirmed: { value: { password: example.password, secret: exampleSecret, code: '492039' } } },
      [codeText, passwordText, currentCodeText],
    ),
    responses: {
      200: json('The recovery codes.', codesBody, { codes: { value: exampleCodes } }),
      429: throttled,
    },
  },
  (deps: TwoStepDependencies) => {
    const check = throttledCheck(deps, 'password', passwordText);
    const use = codeCheck(deps);
    const sessions = new UserSessions(deps);
    return async ({ ctx, caller: { user, organization }, readBody }) => {
      const { currentCode, ...given } = await readBody();
      const isOn = user.twoStep !== null;
      if (isOn && currentCode === undefined) throw new LecternError('INVALID_CONTENT', currentCodeText);
      await check(ctx, user, () => passwordMatches(given.password, user.passwordHash, ctx.state.signal));
      if (isOn) await use(ctx, user, currentCode ?? '');
      const enabled = await enableWithCode(deps, user, given);
      if (enabled === null) throw new LecternError('INVALID_CONTENT', codeText);
      setAudited(ctx, { user: enabled.user, organization });
      await sessions.begin(ctx, { user: enabled.user, organization });
      return { status: 200, body: { recoveryCodes: enabled.recoveryCodes } };
    };
  },
);

/** POST /api/session/two-step/disable */
export const disableTwoStepEndpoint = defineEndpoint(
  {
    ...common,
    method: 'post',
    path: `${path}/disable`,
    audit: 'user.disable_two_step',
    operationId: 'disableTwoStep',
    summary: 'Turn off two-step login',
    body: withCode.body,
    responses: {
      204: empty('It is off.'),
      ...withCode.failures,
    },
  },
  (deps: TwoStepDependencies) => {
    const use = codeCheck(deps);
    return async ({ ctx, caller: { user, organization }, readBody }) => {
      await use(ctx, user, (await readBody()).code);
      await disableTwoStep(deps.db, { _id: user._id, organizationId: user.organizationId });
      setAudited(ctx, { user, organization });
      return { status: 204 };
    };
  },
);

/** POST /api/session/two-step/recovery-codes */
export const renewCodes = defineEndpoint(
  {
    ...common,
    method: 'post',
    path: `${path}/recovery-codes`,
    audit: 'user.renew_recovery_codes',
    operationId: 'renewRecoveryCodes',
    summary: 'Replace the recovery codes',
    body: withCode.body,
    responses: {
      200: json('The recovery codes.', codesBody, { codes: { value: exampleCodes } }),
      ...withCode.failures,
    },
  },
  (deps: TwoStepDependencies) => {
    const use = codeCheck(deps);
    return async ({ ctx, caller: { user, organization }, readBody }) => {
      await use(ctx, user, (await readBody()).code);
      setAudited(ctx, { user, organization });
      return { status: 200, body: { recoveryCodes: await renewRecoveryCodes(deps, user) } };
    };
  },
);

export const twoStepEndpoints = [
  disableTwoStepEndpoint,
  renewCodes,
  setUpTwoStep,
  enableTwoStepEndpoint,
] as const;
