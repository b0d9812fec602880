import { pathParam } from '../http/context.ts';
import type { RequestContext } from '../http/context.ts';
import { z } from 'zod';
import type { LecternError } from '../../shared/platform/errors.ts';
import { auditedCaller, auditedChange } from '../http/audit.ts';
import { defineEndpoint, written } from '../http/endpoint.ts';
import { apiErrors } from '../http/error-format.ts';
import { retryAfter } from '../http/headers.ts';
import { rejectionTexts } from '../http/http-server.ts';
import { publicUrlOf } from '../http/public-url.ts';
import type { LtiDependencies } from './dependencies.ts';
import { browserAccess, faultPage, pageErrors, pageOf } from './page-responses.ts';
import { RegistrationFault, registrationFaultOf, registrationFaults } from './registration-faults.ts';
import type { RegistrationFaultCode } from './registration-faults.ts';
import { registerTool } from './registration.ts';
import { sendRegisteredPage, sendRegistrationFaultPage } from './registration-pages.ts';

const registrationQuery = z.object({
  openid_configuration: z
    .string()
    .min(1)
    .max(4096)
    .meta({ description: 'The URL of the platform’s configuration (OpenID Connect Discovery).' }),
  registration_token: z
    .string()
    .min(1)
    .max(16 * 1024)
    .optional()
    .meta({ description: 'A one-time bearer token for the platform’s registration endpoint.' }),
});

const ofError = (error: string) =>
  (Object.keys(registrationFaults) as RegistrationFaultCode[]).filter(
    (code) => registrationFaults[code].error === error,
  );

/** GET /lti/register/{token}: where an invited learning platform registers Lectern (LTI Dynamic Registration 1.0). */
export const register = defineEndpoint(
  {
    method: 'get',
    path: '/lti/register/:token',
    access: browserAccess,
    errors: pageErrors<LtiDependencies>(sendFault),
    laterParams: z.object({
      token: z.string().meta({ description: 'Invites one platform, within 24 hours.' }),
    }),
    laterQuery: registrationQuery,
    audit: 'platform.register',
    operationId: 'register',
    tag: 'LTI',
    summary: 'Register this service in a learning platform',
    description:
      'LTI Dynamic Registration 1.0, which the platform begins at a URL that the operator creates with ' +
      '`lectern platform invite`. The URL is valid for one registration, which waits for `lectern platform approve`. ' +
      '`HEAD` registers nothing.',
    responses: {
      200: pageOf('A page that names the next steps, with a button that asks the platform to close it.'),
      400: faultPage(ofError('BAD_REQUEST')),
      403: faultPage(ofError('FORBIDDEN')),
      404: faultPage(ofError('NOT_FOUND')),
      409: faultPage(ofError('CONFLICT')),
      429: faultPage(ofError('TOO_MANY_REQUESTS'), retryAfter),
      431: {
        kind: 'written',
        description: 'The URL is too long.',
        content: apiErrors().content(431, [rejectionTexts.largeHeaders]),
      },
      500: faultPage(ofError('INTERNAL_ERROR')),
      502: faultPage(ofError('BAD_GATEWAY')),
    },
  },
  (deps: LtiDependencies) =>
    async ({ ctx }) => {
      if (ctx.method === 'HEAD') ctx.status = 200;
      else await registerPlatform(deps, ctx);
      return written;
    },
);

/** @throws {RegistrationFault} */
async function registerPlatform(deps: LtiDependencies, ctx: RequestContext): Promise<void> {
  const query = registrationQuery.safeParse(ctx.query);
  if (!query.success) throw new RegistrationFault('registration_incomplete');
  const platform = await registerTool(deps, {
    invitation: pathParam(ctx, 'token') ?? '',
    configurationUrl: query.data.openid_configuration,
    registrationToken: query.data.registration_token ?? null,
    publicUrl: publicUrlOf(ctx, deps.config),
  });
  const { _id, organizationId, issuer } = platform;
  ctx.state.log.info({ platform: _id, organizationId, issuer }, 'platform registered');
  auditedCaller.set(ctx, { organizationId, actor: { type: 'system', id: 'invitation' } });
  auditedChange.set(ctx, { target: { type: 'platform', id: _id }, details: { issuer } });
  ctx.status = 200;
  sendRegisteredPage(deps, ctx, platform);
}

function sendFault(deps: LtiDependencies, ctx: RequestContext, failure: LecternError): void {
  const code = registrationFaultOf(failure);
  const detail = failure instanceof RegistrationFault ? failure.detail : '';
  ctx.state.log.info({ code, detail }, 'registration rejected');
  sendRegistrationFaultPage(deps, ctx, code);
}
