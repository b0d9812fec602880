import type { RequestContext } from '../http/context.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { supportLine } from '../embed/pages.ts';
import type { LtiDependencies } from './dependencies.ts';
import { markup } from '../../shared/platform/html.ts';
import { sendNoticePage } from './notice-page.ts';
import { registrationFaults } from './registration-faults.ts';
import type { RegistrationFaultCode } from './registration-faults.ts';

type PageDependencies = Pick<LtiDependencies, 'config' | 'player'>;

/** These pages are for administrators, and exist in English only. */
const language = 'en';

const closeButton = markup`<form><button type="button" id="lectern-close" hidden>Close</button></form>`;
const script = { name: 'registration-page' };

/** Sends the page that names the next steps in Lectern and in the platform. */
export function sendRegisteredPage(
  deps: PageDependencies,
  ctx: RequestContext,
  { _id, issuer, deploymentIds }: LtiPlatform,
): void {
  const option = deploymentIds.length === 0 ? ' --deployment-id ID' : '';
  const deployment = markup`ID stands for the deployment ID that the platform shows for Lectern, perhaps only after you enable Lectern there. The platform did not send it.`;
  const main = markup`<h1>Lectern is registered</h1>
<p>The operator has to approve it. Ask the operator of Lectern to check that ${issuer} is your platform, and to run:</p>
<p><code dir="ltr">lectern platform approve ${_id}${option}</code></p>
<p>${deploymentIds.length === 0 ? deployment : []}</p>
<p>If the platform asks for it, enable Lectern there as well. You can close this page.</p>
${closeButton}`;
  sendNoticePage(deps, ctx, { language, title: 'Lectern is registered', main, script });
}

/** Sends the page that says why the registration failed. The caller sets the status. */
export function sendRegistrationFaultPage(
  deps: PageDependencies,
  ctx: RequestContext,
  code: RegistrationFaultCode,
): void {
  const { title, text } = registrationFaults[code];
  const requestId = ctx.state.requestId;
  const main = markup`<h1>${title}</h1>
<p>${text}</p>
${supportLine(language, code, requestId)}
${closeButton}`;
  sendNoticePage(deps, ctx, { language, title, main, script });
}
