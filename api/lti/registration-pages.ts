import type { Context } from 'koa';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { supportLine } from '../embed/pages.ts';
import type { LtiDependencies } from './dependencies.ts';
import { markup } from '../../shared/platform/html.ts';
import { sendNoticePage } from './notice-page.ts';
import { registrationFaults } from './registration-faults.ts';
import type { RegistrationFaultCode } from './registration-faults.ts';

type PageDependencies = Pick<LtiDependencies, 'config' | 'player'>;

/** Administrators see these pages, not learners. */
const language = 'en';

const closeButton = markup`<form><button type="button" id="lectern-close" hidden>Close</button></form>`;
const script = { name: 'registration-page' };

/** Says what is to be done in Lectern and in the platform. */
export function sendRegisteredPage(
  deps: PageDependencies,
  ctx: Context,
  { _id, issuer, deploymentIds }: LtiPlatform,
): void {
  const option = deploymentIds.length === 0 ? ' --deployment-id ID' : '';
  const deployment = markup` The platform has not told its deployment: ID stands for the deployment ID that it shows for Lectern, perhaps only once Lectern is enabled there.`;
  const main = markup`<h1>Lectern is registered</h1>
<p>It waits for approval. Ask the operator of Lectern to check that ${issuer} is your platform, and to run:</p>
<p><code dir="ltr">lectern platform approve ${_id}${option}</code></p>
<p>${deploymentIds.length === 0 ? deployment : []}</p>
<p>If the platform asks for it, enable Lectern there as well. You can close this page.</p>
${closeButton}`;
  sendNoticePage(deps, ctx, { language, title: 'Lectern is registered', main, script });
}

/** Says why nothing was registered. The status is set already. */
export function sendRegistrationFaultPage(
  deps: PageDependencies,
  ctx: Context,
  code: RegistrationFaultCode,
): void {
  const { title, text } = registrationFaults[code];
  const requestId = ctx.state.requestId as string;
  const main = markup`<h1>${title}</h1>
<p>${text}</p>
${supportLine(language, code, requestId)}
${closeButton}`;
  sendNoticePage(deps, ctx, { language, title, main, script });
}
