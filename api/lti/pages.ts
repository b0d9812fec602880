import { randomUUID } from 'node:crypto';
import type { Context } from 'koa';
import { message } from '../../shared/i18n/message.ts';
import { requestValue } from '../http/context.ts';
import type { LtiDependencies } from './dependencies.ts';
import { courseUrl } from '../embed/boot-data.ts';
import { pageLanguage } from '../http/page-language.ts';
import { supportLine } from '../embed/pages.ts';
import { markup } from '../../shared/platform/html.ts';
import type { Html } from '../../shared/platform/html.ts';
import { publicPath } from '../http/public-url.ts';
import { CookiesBlocked, faults } from './faults.ts';
import type { FaultCode } from './faults.ts';
import type { BegunLaunch, LaunchState } from './launch-state.ts';
import { sendNoticePage } from './notice-page.ts';
import type { LaunchPresentation } from './read-message.ts';

type PageDependencies = Pick<LtiDependencies, 'config' | 'player'>;

/** How long the platform's storage may take, in milliseconds: who has to do without it cannot go on in the frame. */
const storageMilliseconds = 4_000;

/** What the script of a page asks the platform's storage for: player/launch-page/launch-page.ts has the same. */
interface StorageRequest {
  subject: 'lti.put_data' | 'lti.get_data';
  messageId: string;
  /** The name of the frame that keeps data, or `_parent`. */
  target: string;
  /** Its origin; nobody else is asked or heard. */
  origin: string;
  key: string;
  value?: string;
  milliseconds: number;
  /** Where the page goes on, if the storage has kept the value; without it, the page sends its form. */
  next?: string;
}

/** Has the platform keep the browser's secret and goes on to the platform; else says what is said without a storage. */
export function sendKeepPage(
  deps: PageDependencies,
  ctx: Context,
  { state, browserSecret, ...login }: BegunLaunch & KeptLogin,
): void {
  const request: StorageRequest = {
    subject: 'lti.put_data',
    messageId: randomUUID(),
    target: login.target,
    origin: new URL(login.authUrl).origin,
    key: storageKey(state),
    value: browserSecret,
    milliseconds: storageMilliseconds,
    next: login.next,
  };
  const loading = message(languageOf(ctx), 'lesson.loading');
  const refusal = refusalOf(deps, ctx, login.blocked.fault, login.blocked);
  const main = markup`<div id="lectern-status" role="status"><p class="loading">${loading}</p></div>
<template id="lectern-refusal">${refusal}</template>
<noscript>${refusal}</noscript>`;
  sendPage(deps, ctx, { title: loading, main, request });
}

interface KeptLogin {
  /** The frame that keeps data. */
  target: string;
  authUrl: string;
  /** The platform, where the login goes on. */
  next: string;
  blocked: CookiesBlocked;
}

/** Asks the platform's storage for the browser's secret, and sends the launch again with what it had. */
export function sendAskPage(
  deps: PageDependencies,
  ctx: Context,
  { state, idToken, kept }: { state: string; idToken: string; kept: LaunchState },
): void {
  const request: StorageRequest = {
    subject: 'lti.get_data',
    messageId: randomUUID(),
    target: kept.storageTarget ?? '_parent',
    origin: new URL(kept.authUrl).origin,
    key: storageKey(state),
    milliseconds: storageMilliseconds,
  };
  const language = languageOf(ctx);
  const loading = message(language, 'lesson.loading');
  const fields = hiddenFields({ id_token: idToken, state, storage_value: '' });
  const main = markup`<p class="loading" role="status">${loading}</p>
<form id="lectern-launch" method="post" action="${publicPath(deps.config)}/lti/launch">${fields}</form>
<noscript>${notice(language, 'browser_not_recognized')}</noscript>`;
  sendPage(deps, ctx, { title: loading, main, request });
}

/** Says why there is no lesson, and what to do. The status is set already. */
export function sendFaultPage(deps: PageDependencies, ctx: Context, code: FaultCode, failure: Error): void {
  const title = message(languageOf(ctx), `launch.${faults[code].notice}.title`);
  sendPage(deps, ctx, { title, main: refusalOf(deps, ctx, code, failure) });
}

function refusalOf(deps: PageDependencies, ctx: Context, code: FaultCode, failure: Error): Html {
  const language = languageOf(ctx);
  const button = failure instanceof CookiesBlocked ? newTabForm(deps, language, failure.login) : [];
  const requestId = ctx.state.requestId as string;
  const back = courseUrl(presentationOf(ctx));
  return markup`${notice(language, code)}${button}
${back === null ? [] : markup`<p><a href="${back}" target="_top">${message(language, 'notice.back')}</a></p>`}
${supportLine(language, code, requestId)}`;
}

/** Where the secret of a login is in the platform's storage. */
function storageKey(state: string): string {
  return `state_${state}`;
}

function notice(language: string, code: FaultCode): Html {
  const kind = faults[code].notice;
  return markup`<h1>${message(language, `launch.${kind}.title`)}</h1>
<p>${message(language, `launch.${kind}.text`)}</p>`;
}

/**
 * Begins the login in a tab, where cookies are kept; the platform's storage is not reached from there. It is a form
 * that is posted, for what platforms put into logins may be too long for an address, and is nothing for a history.
 */
function newTabForm({ config }: PageDependencies, language: string, login: Record<string, string>): Html {
  return markup`<form method="post" action="${publicPath(config)}/lti/login" target="_blank" rel="noopener">${hiddenFields(login)}
<button>${message(language, 'launch.openInNewTab')}</button></form>`;
}

function hiddenFields(fields: Record<string, string>): Html[] {
  return Object.entries(fields).map(
    ([name, value]) => markup`<input type="hidden" name="${name}" value="${value}">`,
  );
}

interface Page {
  title: string;
  main: Html;
  head?: Html;
  /** With the script that does it. */
  request?: StorageRequest;
}

function sendPage(deps: PageDependencies, ctx: Context, { request, ...page }: Page): void {
  const script =
    request === undefined
      ? undefined
      : { name: 'launch-page', data: { id: 'lectern-storage', value: request } };
  sendNoticePage(deps, ctx, { language: languageOf(ctx), script, ...page });
}

function languageOf(ctx: Context): string {
  return pageLanguage(ctx, presentationOf(ctx).locale);
}

/** How a learning platform wants its user to be met. Set once its message is verified. */
export const launchPresentation = requestValue<LaunchPresentation | undefined>('launch presentation');

/** Nothing before the message of the platform was verified. */
function presentationOf(ctx: Context): LaunchPresentation {
  return launchPresentation.find(ctx) ?? {};
}
