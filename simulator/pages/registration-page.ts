import { markup } from '../../shared/platform/html.ts';
import { page } from './layout.ts';

/** A tool's own registration page in a frame, until it says that it is done. */
export function registrationPage(toolUrl: string): string {
  const main = markup`<p class="soft">The tool says when it is done. If it stays empty,
<a href="${toolUrl}" target="_blank" rel="opener">open it in a new tab</a>, then go to <a href="/tools">the tools</a>.</p>
<iframe class="tool" src="${toolUrl}" title="Registration of the tool"></iframe>
`;
  return page({ title: 'Registration', main, scripts: ['/assets/registration.js'] });
}
