import type Router from '@koa/router';
import type { Middleware } from 'koa';
import { addLink, copyCourse } from '../courses.ts';
import { createRouter, Rejection } from '../http.ts';
import type { Context, RequestState } from '../http.ts';
import { createPlatformKey } from '../keys.ts';
import { loginRequest, repeatLaunch, startLaunch, storageFrame } from '../launches.ts';
import type { Course, Launch } from '../model.ts';
import { readLinkForm, readToolForm } from '../pages/forms.ts';
import { launchPage, storagePage } from '../pages/launch-page.ts';
import { postPage, postPagePolicy, renderRejectionPages, sendHtml } from '../pages/send.ts';
import { registrationPage } from '../pages/tools-page.ts';
import type { Platform } from '../platform.ts';
import { parseUrl } from '../../shared/platform/parse-url.ts';
import { addTool, invitationUrl } from '../tools.ts';

/** The forms on the platform's pages. */
export function actionRoutes(platform: Platform): Router<RequestState> {
  const router = createRouter();
  const guard = [renderRejectionPages(platform, 'form'), rejectOtherSites] as const;

  router.post('/launches', ...guard, (ctx) => {
    const launch = readLaunch(ctx, platform);
    if (launch.target === 'iframe') seeOther(ctx, `/launches/${launch.hint}`);
    else openInTab(ctx, platform, launch);
  });
  router.get('/launches/:hint', ...guard, (ctx) => {
    const launch = platform.launches.get(ctx.params.hint ?? '');
    if (launch === undefined) throw new Rejection(404, 'not_found', 'This launch has expired.');
    // After a reload of the page.
    if (launch.used) seeOther(ctx, `/launches/${repeatLaunch(platform, launch).hint}`);
    else sendHtml(ctx, launchPage(platform, launch));
  });
  router.get('/storage', (ctx) => {
    sendHtml(ctx, storagePage());
  });

  router.post('/registrations', ...guard, (ctx) => {
    sendHtml(ctx, registrationPage(invitationUrl(platform, readUrl(ctx))));
  });
  router.post('/tools', ...guard, (ctx) => {
    addTool(platform, readToolForm(formOf(ctx)));
    seeOther(ctx, '/tools');
  });
  router.post('/keys', ...guard, async (ctx) => {
    platform.keys.push(await createPlatformKey());
    seeOther(ctx, '/tools');
  });

  router.post('/courses/:id/links', ...guard, (ctx) => {
    const { id } = requireCourse(platform, ctx.params.id);
    const { link, lineItem } = readLinkForm(platform, id, formOf(ctx));
    addLink(platform, link, lineItem);
    seeOther(ctx, '/');
  });
  router.post('/courses/:id/copy', ...guard, (ctx) => {
    copyCourse(platform, requireCourse(platform, ctx.params.id));
    seeOther(ctx, '/');
  });
  return router;
}

/** Rejects forms of other sites (CSRF). */
const rejectOtherSites: Middleware<RequestState> = async (ctx, next) => {
  const from = ctx.get('sec-fetch-site');
  if (ctx.method === 'POST' && from !== '' && from !== 'same-origin') {
    throw new Rejection(403, 'forbidden', 'This form is on another site.');
  }
  await next();
};

/** Reads the pressed button: `frame` or `tab` names a link, `choose` a course and a tool. */
function readLaunch(ctx: Context, platform: Platform): Launch {
  const form = formOf(ctx);
  const user = platform.users.get(form.get('user') ?? '');
  if (user === undefined) throw new Rejection(404, 'not_found', 'There is no such user.');
  const locale = form.get('locale') ?? undefined;
  const storageTarget = form.has('storage') && !form.has('tab') ? storageFrame : null;
  const target = form.has('tab') ? 'window' : 'iframe';
  const method = form.get('method') === 'GET' ? 'GET' : 'POST';
  return startLaunch(platform, { user, locale, storageTarget, target, method, ...targetOf(platform, form) });
}

function targetOf(platform: Platform, form: URLSearchParams) {
  const [courseId, clientId = ''] = (form.get('choose') ?? '').split(' ');
  const tool = platform.tools.get(clientId);
  if (tool !== undefined) return { deepLink: { tool, course: requireCourse(platform, courseId) } };
  const link = platform.links.get(form.get('frame') ?? form.get('tab') ?? '');
  if (link === undefined) throw new Rejection(404, 'not_found', 'There is no such link.');
  return { link };
}

/** Sends the login request in a tab. */
function openInTab(ctx: Context, platform: Platform, launch: Launch): void {
  const { method, action, fields } = loginRequest(platform, launch);
  if (method === 'GET') {
    seeOther(ctx, `${action}?${new URLSearchParams(fields).toString()}`);
    return;
  }
  ctx.set('Content-Security-Policy', postPagePolicy);
  ctx.type = 'html';
  ctx.body = postPage(action, fields);
}

function requireCourse({ courses }: Platform, id = ''): Course {
  const course = courses.get(id);
  if (course === undefined) throw new Rejection(404, 'not_found', 'There is no such course.');
  return course;
}

function readUrl(ctx: Context): string {
  const url = formOf(ctx).get('url') ?? '';
  if (parseUrl(url) === null)
    throw new Rejection(400, 'invalid_request', 'The registration URL is not a URL.');
  return url;
}

function formOf(ctx: Context): URLSearchParams {
  return new URLSearchParams(ctx.state.body);
}

function seeOther(ctx: Context, path: string): void {
  ctx.redirect(path);
  ctx.status = 303;
}
