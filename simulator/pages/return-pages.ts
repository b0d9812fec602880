import type { DeepLinkingOutcome } from '../deep-linking.ts';
import { markup } from '../../shared/platform/html.ts';
import type { Html } from '../../shared/platform/html.ts';
import type { Rejection } from '../http.ts';
import { page } from './layout.ts';

const back = markup`<p><a class="button" href="/" target="_top">Back to the courses</a></p>`;

/** Renders the page after a deep linking response. */
export function deepLinkedPage({ links, message, errorMessage }: DeepLinkingOutcome): string {
  const titles = links.map(({ title }) => markup`<li>${title}</li>`);
  const list = titles.length === 0 ? markup`<p>Nothing was chosen.</p>` : markup`<ul>${titles}</ul>`;
  const main = markup`${said(message, errorMessage)}${list}${back}`;
  return page({ title: 'Added to the course', main, framed: true });
}

/** Renders the page to which tools return their users. */
export function returnPage(parameters: Readonly<Record<string, string>>): string {
  const { lti_msg: message = null, lti_errormsg: errorMessage = null } = parameters;
  const main = markup`${said(message, errorMessage)}${back}`;
  return page({ title: 'Back from the tool', main, framed: true });
}

export function rejectionPage({ code, message }: Rejection): string {
  const main = markup`<p class="bad"><strong>${code}</strong></p><p>${message}</p>${back}`;
  return page({ title: 'Rejected', main, framed: true });
}

function said(message: string | null, errorMessage: string | null): Html {
  const error = errorMessage === null ? markup`` : markup`<p class="bad">${errorMessage}</p>`;
  return message === null ? error : markup`<p>${message}</p>${error}`;
}
