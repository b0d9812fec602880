import type Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import type { LecternError } from '../../shared/platform/errors.ts';
import type { Logger } from '../../shared/platform/log.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { setNoticeHeaders } from './notice-page.ts';
import { RegistrationFault, registrationFaultOf } from './registration-faults.ts';
import { registerTool } from './registration.ts';
import { sendRegisteredPage, sendRegistrationFaultPage } from './registration-pages.ts';
import { answerErrors } from '../http/middleware/errors.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { limitByAddress } from '../http/middleware/rate-limit.ts';
import { publicAddress } from '../http/public-url.ts';
import { createRouter } from '../http/router.ts';

export const registrationQuery = z.object({
  openid_configuration: z
    .string()
    .min(1)
    .max(4096)
    .meta({ description: 'Where the platform describes itself (OpenID Connect Discovery).' }),
  registration_token: z
    .string()
    .min(1)
    .max(16 * 1024)
    .optional()
    .meta({ description: 'What the platform lets Lectern in with, once.' }),
});

/** Where a learning platform that was invited has Lectern register itself (LTI Dynamic Registration 1.0). */
export function ltiRegistrationRoutes(deps: AppDependencies): Router<RequestState> {
  const router = createRouter();
  const headers: Middleware = (ctx, next) => {
    setNoticeHeaders(ctx);
    return next();
  };
  const failures = answerErrors((ctx, failure) => sendFault(deps, ctx, failure));

  router.get('/lti/register/:token', headers, failures, limitByAddress(deps), async (ctx) => {
    // Who asks for the headers alone wants no registration.
    if (ctx.method === 'HEAD') ctx.status = 200;
    else await register(deps, ctx);
  });
  router.all('/lti/register/:token', methodNotAllowed('GET, HEAD'));
  return router;
}

/** @throws {RegistrationFault} */
async function register(deps: AppDependencies, ctx: Context): Promise<void> {
  const query = registrationQuery.safeParse(ctx.query);
  if (!query.success) throw new RegistrationFault('registration_incomplete');
  const { token = '' } = ctx.params as Record<string, string | undefined>;
  const platform = await registerTool(deps, {
    invitation: token,
    configurationUrl: query.data.openid_configuration,
    registrationToken: query.data.registration_token ?? null,
    publicAddress: publicAddress(ctx, deps.config),
  });
  const { _id, organizationId, issuer } = platform;
  (ctx.state.log as Logger).info({ platform: _id, organizationId, issuer }, 'platform registered');
  ctx.status = 200;
  sendRegisteredPage(deps, ctx, platform);
}

function sendFault(deps: AppDependencies, ctx: Context, failure: LecternError): void {
  const code = registrationFaultOf(failure);
  const detail = failure instanceof RegistrationFault ? failure.detail : '';
  (ctx.state.log as Logger).info({ code, detail }, 'registration refused');
  sendRegistrationFaultPage(deps, ctx, code);
}
