import { readBoot } from './boot.ts';
import type { NoticeBoot } from './boot.ts';
import { openHost } from './host-link.ts';
import { LessonPage } from './play-page.ts';
import { linkedStep, stepFragments } from '../step-history.ts';
import { forgetLearner, openStorage } from './fact-store.ts';
import { tokenStore } from './token-keeper.ts';
import { breakOut } from './launch-lines.ts';
import { currentScheme, setScheme } from '../theme.ts';

/** Runs on every page at /embed/{lessonId}: plays the lesson, or waits for a token. */
function start(): void {
  document.querySelector('.old-browser')?.remove();
  const boot = readBoot(document);
  const query = new URLSearchParams(location.search);
  const token = query.get('token');
  // Removes the token from the URL, because URLs are copied, stored in histories and shown on screens.
  if (token !== null) history.replaceState(history.state, '', location.pathname + location.hash);
  if (boot?.page === 'lesson') new LessonPage(boot, token ?? '').start();
  else if (boot !== undefined) waitForToken(boot, query);
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-lectern-back]')) breakOut(link);
}

function waitForToken(boot: NoticeBoot, query: URLSearchParams): void {
  const { page, lessonId, code, allowedOrigins, erasedLearner } = boot;
  if (erasedLearner !== undefined) forgetLearner(openStorage('localStorage'), erasedLearner);
  const store = tokenStore(openStorage('sessionStorage'), lessonId ?? '');
  // A host page that provides tokens knows the current learner; the tab's last token may be another learner's.
  const stored = query.has('ask') ? '' : store.read();
  const token = query.get('token') ?? '';
  /** Only failures that a retry may fix have the button. */
  const retry = document.querySelector<HTMLButtonElement>('[data-lectern-retry]');
  if (retry !== null && token !== '') {
    retry.hidden = false;
    retry.addEventListener('click', () => open(token));
  }
  if (page === 'failure') store.write(retry === null ? '' : token);
  else if (stored !== '') return open(stored);
  const host = openHost(allowedOrigins, (request) => {
    if (request.type === 'setToken') open(request.token);
    else if (request.type === 'tokenDelayed') showDelay();
    else if (request.type === 'colorScheme') setScheme(request.scheme);
    else if (request.type === 'goTo') {
      const link = `#${new URLSearchParams({ step: request.stepId }).toString()}`;
      history.replaceState(history.state, '', location.pathname + location.search + link);
    }
  });
  if (code !== undefined) host.send({ type: 'error', code, message: document.title });
  // Requests a token only once, because a host may have only invalid ones.
  const canHelp = page === 'waiting' || code === 'token_expired';
  if (canHelp && !query.has('again')) host.send({ type: 'token.expiring', expiresAt: null });
}

/**
 * Shows that the lesson is delayed. The page's first text says to open the lesson from the course, which the learner
 * has done.
 */
function showDelay(): void {
  const status = document.querySelector<HTMLElement>('[data-lectern-delayed]');
  document.querySelector('[data-lectern-waiting]')?.remove();
  if (status) status.textContent = status.dataset.lecternDelayed ?? '';
}

function open(token: string): void {
  const query = new URLSearchParams({ token, again: '' });
  const scheme = currentScheme();
  if (scheme) query.set('scheme', scheme);
  // The page loads without the history state that marks the end, so the URL's step would open instead.
  const hash = linkedStep(stepFragments) === undefined ? '' : location.hash;
  location.replace(`${location.pathname}?${query.toString()}${hash}`);
}

start();
