import { readBoot } from './boot.ts';
import type { NoticeBoot } from './boot.ts';
import { openHost } from './host-link.ts';
import { playPage } from './play-page.ts';
import { openStorage } from './queue-store.ts';
import { tokenStore } from './token-keeper.ts';
import { breakOut } from './way-back.ts';

/** The script of every page at /embed/{lessonId}: it plays the lesson, or waits for a token to open it with. */
function start(): void {
  const boot = readBoot(document);
  const query = new URLSearchParams(location.search);
  const token = query.get('token');
  // Addresses are copied, kept in histories and shown on screens.
  if (token !== null) history.replaceState(history.state, '', location.pathname + location.hash);
  if (boot?.page === 'lesson') playPage(boot, token ?? '');
  else if (boot !== undefined) waitForToken(boot, query);
  for (const link of document.querySelectorAll<HTMLAnchorElement>('a[data-lectern-back]')) breakOut(link);
}

/** Failures that a reload may find gone. */
const passing = ['too_many_requests', 'server_error'];

function waitForToken({ page, lessonId, code, allowedOrigins }: NoticeBoot, query: URLSearchParams): void {
  const store = tokenStore(openStorage('sessionStorage'), lessonId ?? '');
  // The page around this one knows best who the learner is now, where it says that it has a token.
  const kept = query.has('ask') ? '' : store.read();
  if (page === 'failure') store.write(passing.includes(code ?? '') ? (query.get('token') ?? '') : '');
  else if (kept !== '') return open(kept);
  const host = openHost(allowedOrigins, (request) => {
    if (request.type === 'setToken') open(request.token);
    else if (request.type === 'tokenDelayed') showDelay();
    else if (request.type === 'goTo') {
      const link = `#${new URLSearchParams({ step: request.stepId }).toString()}`;
      history.replaceState(history.state, '', location.pathname + location.search + link);
    }
  });
  if (code !== undefined) host.tell({ type: 'error', code, message: document.title });
  // A host whose tokens are no good is asked once, not over and over again.
  const mayHelp = page === 'waiting' || code === 'token_expired';
  if (mayHelp && !query.has('again')) host.tell({ type: 'token.expiring', expiresAt: null });
}

/** The learner can only wait: opening the lesson from the course, as the page says, is what was done. */
function showDelay(): void {
  const status = document.querySelector<HTMLElement>('[data-lectern-delayed]');
  document.querySelector('[data-lectern-waiting]')?.remove();
  if (status) status.textContent = status.dataset.lecternDelayed ?? '';
}

function open(token: string): void {
  const query = new URLSearchParams({ token, again: '' }).toString();
  location.replace(`${location.pathname}?${query}${location.hash}`);
}

start();
