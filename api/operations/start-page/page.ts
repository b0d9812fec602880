import { createHash } from 'node:crypto';
import { tokensCss } from '../../../shared/theme/tokens.ts';
import { Html, markup } from '../../../shared/platform/html.ts';
import type { ServiceState } from './service-state.ts';

/** The links of the page, as paths or URLs; null for links that this visitor does not get. */
interface StartPageLinks {
  favicon: string;
  docs: string;
  openapi: string;
  console: string | null;
  queueBoard: string | null;
  demoLesson: string | null;
}

const style = `
${tokensCss()}
:root { color-scheme: var(--lectern-scheme); }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--lectern-page); color: var(--lectern-text); font: 1rem/1.55 var(--lectern-font); }
main { box-sizing: border-box; max-width: 40rem; margin: 0 auto; padding: 3rem 1.25rem; overflow-wrap: anywhere; }
header { display: flex; align-items: center; gap: .75rem; }
header img { width: 2.5rem; height: 2.5rem; }
h1 { margin: 0; color: var(--lectern-text-strong); font: 600 1.75rem/1.2 var(--lectern-font-display); }
p { margin: .75rem 0 0; }
a { color: var(--lectern-accent); }
a:focus-visible { outline: 3px solid var(--lectern-accent); outline-offset: 2px; border-radius: 2px; }
.state { display: flex; gap: .6rem; margin-top: 1.5rem; padding: .75rem 1rem; background: var(--lectern-surface);
  border: 1px solid var(--lectern-line); border-left: 4px solid var(--tone); border-radius: var(--lectern-radius); }
.state h2 { margin: 0; color: var(--tone); font: inherit; font-weight: 700; white-space: nowrap; }
.state p { margin: 0; }
.ok { --tone: var(--lectern-right); } .no_workers, .degraded { --tone: var(--lectern-partly); } .unavailable { --tone: var(--lectern-wrong); }
ul { margin: 1.5rem 0 0; padding: 0; list-style: none; }
li { padding: .75rem 0; border-top: 1px solid var(--lectern-line); }
li a { font-weight: 600; }
li span { display: block; color: var(--lectern-text-muted); font-size: .9375rem; }
footer { margin-top: .75rem; padding-top: .75rem; border-top: 1px solid var(--lectern-line); color: var(--lectern-text-muted); font-size: .9375rem; }
`;

/** The page loads only its icon, runs no scripts, and no page may frame it. */
export const startPagePolicy = [
  "default-src 'none'",
  "img-src 'self'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const states: Record<ServiceState, [title: string, text: string]> = {
  ok: ['Ready', 'Lessons play, and exports are built.'],
  no_workers: ['No worker', 'Lessons play, but exports wait and no grades are sent until a worker runs.'],
  degraded: ['Degraded', 'Lessons play, but a server or the store fails: “lectern doctor” says what to do.'],
  unavailable: ['Unavailable', 'MongoDB does not respond: “lectern doctor” says what to do.'],
};

/** Returns the page at `/`, for operators and integrators. It refers learners to their course. */
export function startPage(state: ServiceState, links: StartPageLinks): string {
  const [title, text] = states[state];
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Lectern</title>
<link rel="icon" type="image/svg+xml" href="${links.favicon}">
<style>${new Html(style)}</style>
</head>
<body>
<main>
<header><img src="${links.favicon}" alt=""><h1>Lectern</h1></header>
<p>Lectern delivers lessons: to frames in other sites, to learning platforms, and as archives.</p>
<section class="state ${state}" aria-labelledby="state"><h2 id="state">${title}</h2> <p>${text}</p></section>
<ul>
${entry(links.demoLesson, 'Play the demo lesson', 'Only browsers on this machine see this link. Your progress is recorded for the learner “start-page”.')}
${entry(links.console, 'Console', 'For authors, teachers and administrators: lessons, learners, integrations. Requires an account.')}
${entry(links.docs, 'API reference', 'Every endpoint, for integrators.')}
${entry(links.openapi, 'OpenAPI document', 'The API reference as JSON, for tools.')}
${entry(links.queueBoard, 'Queue board', 'For operators: waiting, running and failed jobs. Requires a password.')}
</ul>
<footer>Looking for a lesson? Open it in your course, or with the link that you were given.</footer>
</main>
</body>
</html>
`.source;
}

function entry(href: string | null, name: string, text: string): Html[] {
  return href === null ? [] : [markup`<li><a href="${href}">${name}</a> <span>${text}</span></li>`];
}
