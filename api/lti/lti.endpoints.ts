import type Router from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { LecternError } from '../../shared/platform/errors.ts';
import type { Logger } from '../../shared/platform/log.ts';
import type { RequestState } from '../http/context.ts';
import type { AppDependencies } from '../dependencies.ts';
import { faultOf, LaunchFault } from './faults.ts';
import { showLessons, takeChoice } from './choose-lessons.ts';
import { answerLaunch } from './launch.ts';
import { startLogin } from './login.ts';
import { setNoticeHeaders } from './notice-page.ts';
import { sendFaultPage } from './pages.ts';
import { answerErrors } from '../http/middleware/errors.ts';
import { readFields, readForm } from '../http/middleware/form-body.ts';
import { methodNotAllowed } from '../http/middleware/method-not-allowed.ts';
import { limitByAddress } from '../http/middleware/rate-limit.ts';
import { createRouter } from '../http/router.ts';

/** A login comes a second time where it is to show whether the browser keeps cookies. */
const logins = [
  ['/lti/login', false],
  ['/lti/login/checked', true],
] as const;

/** Logins have hints of the platform in them, which are tokens in some. */
const maxLoginBytes = 32 * 1024;

/** Launches have the user's and the course's data in them, as much as the platform sends. */
const maxLaunchBytes = 256 * 1024;

/** As much as a page of lessons can have in its form, with all that may be chosen. */
const maxChoiceBytes = 32 * 1024;

/** Where learning platforms send their users: the login and the launch of LTI 1.3, and the choice of lessons. */
export function ltiRoutes(deps: AppDependencies): Router<RequestState> {
  const router = createRouter();
  const headers: Middleware = (ctx, next) => {
    setNoticeHeaders(ctx);
    return next();
  };
  const failures = answerErrors((ctx, failure) => sendFault(deps, ctx, failure));
  router.use(['/lti/login', '/lti/launch', '/lti/select'], headers, failures, limitByAddress(deps));

  for (const [path, checked] of logins) {
    router.get(path, (ctx) => startLogin(deps, ctx, readFields(ctx.querystring), { checked }));
    router.post(path, async (ctx) => {
      await startLogin(deps, ctx, await readForm(ctx, { maxBytes: maxLoginBytes }), { checked });
    });
    router.all(path, methodNotAllowed('GET, HEAD, POST'));
  }
  router.post('/lti/launch', async (ctx) => {
    const outcome = await answerLaunch(deps, ctx, await readForm(ctx, { maxBytes: maxLaunchBytes }));
    if (outcome === 'asks_storage') return;
    deps.lti.launches.launched(outcome);
    ctx.state.log.info({ outcome }, 'launch');
  });
  router.get('/lti/select/:choiceId', async (ctx) => {
    await showLessons(deps, ctx, ctx.params.choiceId ?? '', readFields(ctx.querystring));
  });
  router.post('/lti/select/:choiceId', async (ctx) => {
    const fields = await readForm(ctx, { maxBytes: maxChoiceBytes });
    await takeChoice(deps, ctx, ctx.params.choiceId ?? '', fields);
  });
  router.all('/lti/launch', methodNotAllowed('POST'));
  router.all('/lti/select/:choiceId', methodNotAllowed('GET, HEAD, POST'));
  return router;
}

function sendFault(deps: AppDependencies, ctx: Context, failure: LecternError): void {
  const code = faultOf(failure);
  const details = failure instanceof LaunchFault ? failure.details : {};
  deps.lti.launches.launched(code);
  (ctx.state.log as Logger).info({ code, ...details }, 'launch refused');
  sendFaultPage(deps, ctx, code, failure);
}
