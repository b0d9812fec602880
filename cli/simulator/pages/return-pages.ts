import type { DeepLinkingOutcome } from '../deep-linking.ts';
import { html } from '../html.ts';
import type { Html } from '../html.ts';
import type { Refusal } from '../refusal.ts';
import { page } from './layout.ts';

const back = html`<p><a class="button" href="/" target="_top">Back to the course</a></p>`;

/** What a teacher sees when the tool has sent what was chosen. */
export function deepLinkedPage({ links, message, errorMessage }: DeepLinkingOutcome): string {
  const titles = links.map(({ title }) => html`<li>${title}</li>`);
  const list =
    titles.length === 0
      ? html`<p>Nothing was chosen.</p>`
      : html`<ul>
          ${titles}
        </ul>`;
  const main = html`${said(message, errorMessage)}${list}${back}`;
  return page({ title: 'Added to the course', main, framed: true });
}

/** What somebody sees whom a tool has sent back. */
export function returnPage(parameters: Readonly<Record<string, string>>): string {
  const { lti_msg: message = null, lti_errormsg: errorMessage = null } = parameters;
  return page({
    title: 'Back from the tool',
    main: html`${said(message, errorMessage)}${back}`,
    framed: true,
  });
}

/** A request of a tool that the platform refused, told in the browser. */
export function refusedPage({ code, message }: Refusal): string {
  const main = html`<p class="bad"><strong>${code}</strong></p>
    <p>${message}</p>
    ${back}`;
  return page({ title: 'Refused', main, framed: true });
}

function said(message: string | null, errorMessage: string | null): Html {
  const error = errorMessage === null ? html`` : html`<p class="bad">${errorMessage}</p>`;
  return message === null
    ? error
    : html`<p>${message}</p>
        ${error}`;
}
