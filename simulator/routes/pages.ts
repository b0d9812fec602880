import type Router from '@koa/router';
import { createRouter, readParameters } from '../http.ts';
import type { RequestState } from '../http.ts';
import { coursesPage } from '../pages/courses-page.ts';
import { gradesPage } from '../pages/grades-page.ts';
import { messagesPage } from '../pages/messages-page.ts';
import { returnPage } from '../pages/return-pages.ts';
import {
  gradesScript,
  launchScript,
  readyScript,
  registrationScript,
  storageScript,
} from '../pages/scripts.ts';
import { sendHtml } from '../pages/send.ts';
import { style } from '../pages/style.ts';
import { toolsPage } from '../pages/tools-page.ts';
import type { Platform } from '../platform.ts';

const files: readonly (readonly [string, string, string])[] = [
  ['style.css', 'css', style],
  ['storage.js', 'js', storageScript],
  ['launch.js', 'js', launchScript],
  ['ready.js', 'js', readyScript],
  ['grades.js', 'js', gradesScript],
  ['registration.js', 'js', registrationScript],
];

/** The platform's pages and their files. */
export function pageRoutes(platform: Platform): Router<RequestState> {
  const router = createRouter();
  router.get('/', (ctx) => {
    sendHtml(ctx, coursesPage(platform));
  });
  router.get('/grades', (ctx) => {
    sendHtml(ctx, gradesPage(platform));
  });
  router.get('/messages', (ctx) => {
    sendHtml(ctx, messagesPage(platform));
  });
  router.get('/tools', (ctx) => {
    sendHtml(ctx, toolsPage(platform, readParameters(ctx).url ?? ''));
  });
  router.get('/return', (ctx) => {
    sendHtml(ctx, returnPage(readParameters(ctx)));
  });
  for (const [name, type, text] of files) {
    router.get(`/assets/${name}`, (ctx) => {
      ctx.type = type;
      ctx.body = text;
    });
  }
  return router;
}
