import { readBoot } from './boot.ts';
import type { NoticeBoot } from './boot.ts';
import { openHost } from './host-link.ts';
import { playPage } from './play-page.ts';
import { openStorage } from './queue-store.ts';
import { tokenStore } from './token-keeper.ts';

/** The script of every page at /embed/{lessonId}: it plays the lesson, or waits for a token to open it with. */
function start(): void {
  const boot = readBoot(document);
  const token = new URLSearchParams(location.search).get('token');
  // Addresses are copied, kept in histories and shown on screens.
  if (token !== null) history.replaceState(history.state, '', location.pathname + location.hash);
  if (boot?.page === 'lesson') playPage(boot, token ?? '');
  else if (boot !== undefined) waitForToken(boot, token !== null);
}

/** @param wasRefused there was a token, and it is no good */
function waitForToken({ lessonId, allowedOrigins }: NoticeBoot, wasRefused: boolean): void {
  if (lessonId === null) return;
  const store = tokenStore(openStorage('sessionStorage'), lessonId);
  const kept = store.read();
  if (wasRefused) store.write('');
  else if (kept !== '') return open(kept);
  const host = openHost(allowedOrigins, (request) => {
    if (request.type === 'setToken') open(request.token);
  });
  host.tell({ type: 'token.expiring', expiresAt: null });
}

function open(token: string): void {
  location.replace(`${location.pathname}?${new URLSearchParams({ token }).toString()}${location.hash}`);
}

start();
