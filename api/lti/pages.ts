import { randomUUID } from 'node:crypto';
import type { RequestContext } from '../http/context.ts';
import { message } from '../../shared/i18n/message.ts';
import { requestValue, pageLanguage } from '../http/context.ts';
import type { LtiDependencies } from './dependencies.ts';
import { courseUrl } from '../embed/boot-data.ts';
import { oldBrowserLine, supportLine } from '../embed/pages.ts';
import { markup } from '../../shared/platform/html.ts';
import type { Html } from '../../shared/platform/html.ts';
import { publicPath } from '../http/public-url.ts';
import { CookiesBlocked, faults } from './faults.ts';
import type { FaultCode } from './faults.ts';
import type { StartedLogin, LaunchState } from './launch-state.ts';
import { sendNoticePage } from './notice-page.ts';
import type { LaunchPresentation } from './read-message.ts';

type PageDependencies = Pick<LtiDependencies, 'config' | 'player'>;

/** How long the platform's storage may take to respond. Without it, the launch cannot continue in the frame. */
const storageTimeoutMs = 4_000;

/** A request of a page's script to the platform's storage; player/launch-page/launch-page.ts declares the same. */
interface StorageRequest {
  subject: 'lti.put_data' | 'lti.get_data';
  messageId: string;
  /** The name of the storage frame, or `_parent`. */
  target: string;
  /** The only origin that the script writes to and listens to. */
  origin: string;
  key: string;
  value?: string;
  milliseconds: number;
  /** The page to open after the storage has stored the value. Without it, the script submits the page's form. */
  next?: string;
}

/**
 * Sends a page that stores the browser's secret in the platform's storage and continues, or shows the reason why it
 * cannot.
 */
export function sendStoreSecretPage(
  deps: PageDependencies,
  ctx: RequestContext,
  { state, browserSecret, ...login }: StartedLogin & StorageLogin,
): void {
  const request: StorageRequest = {
    subject: 'lti.put_data',
    messageId: randomUUID(),
    target: login.target,
    origin: new URL(login.authUrl).origin,
    key: storageKey(state),
    value: browserSecret,
    milliseconds: storageTimeoutMs,
    next: login.next,
  };
  const loading = message(languageOf(ctx), 'lesson.loading');
  const refusal = faultNotice(deps, ctx, login.blocked.fault, login.blocked);
  const main = markup`<div id="lectern-status" role="status"><p class="loading">${loading}</p></div>
<template id="lectern-refusal">${refusal}</template>
<noscript>${refusal}</noscript>`;
  sendPage(deps, ctx, { title: loading, main, request });
}

interface StorageLogin {
  /** The storage frame. */
  target: string;
  authUrl: string;
  /** The platform's authorization endpoint, with its query. */
  next: string;
  blocked: CookiesBlocked;
}

/** Sends a page that reads the browser's secret from the platform's storage, and repeats the launch with it. */
export function sendReadSecretPage(
  deps: PageDependencies,
  ctx: RequestContext,
  { state, idToken, login }: { state: string; idToken: string; login: LaunchState },
): void {
  const request: StorageRequest = {
    subject: 'lti.get_data',
    messageId: randomUUID(),
    target: login.storageTarget ?? '_parent',
    origin: new URL(login.authUrl).origin,
    key: storageKey(state),
    milliseconds: storageTimeoutMs,
  };
  const language = languageOf(ctx);
  const loading = message(language, 'lesson.loading');
  const fields = hiddenFields({ id_token: idToken, state, storage_value: '' });
  const main = markup`<p class="loading" role="status">${loading}</p>
<form id="lectern-launch" method="post" action="${publicPath(deps.config)}/lti/launch">${fields}</form>
<noscript>${notice(language, 'browser_not_recognized')}</noscript>`;
  sendPage(deps, ctx, { title: loading, main, request });
}

/** Sends a page that says why there is no lesson, and what to do. The caller sets the status. */
export function sendFaultPage(
  deps: PageDependencies,
  ctx: RequestContext,
  code: FaultCode,
  failure: Error,
): void {
  const title = message(languageOf(ctx), `launch.${faults[code].notice}.title`);
  sendPage(deps, ctx, { title, main: faultNotice(deps, ctx, code, failure) });
}

function faultNotice(deps: PageDependencies, ctx: RequestContext, code: FaultCode, failure: Error): Html {
  const language = languageOf(ctx);
  const button = failure instanceof CookiesBlocked ? newTabForm(deps, language, failure.login) : [];
  const requestId = ctx.state.requestId;
  const back = courseUrl(presentationOf(ctx));
  return markup`${notice(language, code)}${button}
${back === null ? [] : markup`<p class="actions"><a class="button" href="${back}" target="_top">${message(language, 'notice.back')}</a></p>`}
${supportLine(language, code, requestId)}`;
}

function storageKey(state: string): string {
  return `state_${state}`;
}

function notice(language: string, code: FaultCode): Html {
  const kind = faults[code].notice;
  return markup`<h1>${message(language, `launch.${kind}.title`)}</h1>
<p>${message(language, `launch.${kind}.text`)}</p>`;
}

/**
 * Returns a button that repeats the login in a new tab, where browsers keep cookies. It posts a form, because logins
 * may be too long for a URL and do not belong in the browser's history.
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
  /** Adds the script that sends this request. */
  request?: StorageRequest;
}

function sendPage(deps: PageDependencies, ctx: RequestContext, { request, ...page }: Page): void {
  const script =
    request === undefined
      ? undefined
      : { name: 'launch-page', data: { id: 'lectern-storage', value: request } };
  const language = languageOf(ctx);
  const main = script === undefined ? page.main : markup`${page.main}${oldBrowserLine(language)}`;
  sendNoticePage(deps, ctx, { ...page, language, script, main });
}

function languageOf(ctx: RequestContext): string {
  return pageLanguage(ctx, presentationOf(ctx).locale);
}

/** Set after the platform's message was verified. */
export const launchPresentation = requestValue<LaunchPresentation | undefined>('launch presentation');

function presentationOf(ctx: RequestContext): LaunchPresentation {
  return launchPresentation.find(ctx) ?? {};
}
