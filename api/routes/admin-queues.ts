import { timingSafeEqual, createHash } from 'node:crypto';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { KoaAdapter } from '@bull-board/koa';
import type { Context, Middleware, Next } from 'koa';
import { exportJobSchema } from '../../shared/jobs.ts';
import type { ExportQueue } from '../../shared/queues.ts';

const basePath = '/admin/queues';

/** Bull Board's page works with its own files alone, and in no frame. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
].join('; ');

interface Account {
  username: string;
  password: string;
}

/** The queues as Bull Board shows them, for the operator whose name and password are configured. */
export function adminQueues(account: Account, queue: ExportQueue): Middleware {
  const adapter = new BullMQAdapter(queue, { displayName: 'Exports', description: 'Archives to build' });
  adapter.setFormatter('name', describeJob);
  adapter.setFormatter('progress', toPercent);
  const server = new KoaAdapter();
  server.setBasePath(basePath);
  createBullBoard({
    queues: [adapter],
    serverAdapter: server,
    options: { uiConfig: { boardTitle: 'Lectern' } },
  });
  const board = server.registerPlugin();

  return async (ctx: Context, next: Next): Promise<void> => {
    if (ctx.path !== basePath && !ctx.path.startsWith(`${basePath}/`)) {
      await next();
      return;
    }
    if (!isAccount(account, ctx.get('Authorization'))) {
      ctx.status = 401;
      ctx.set('WWW-Authenticate', 'Basic realm="Lectern", charset="UTF-8"');
      ctx.body = 'Log in with ADMIN_USERNAME and ADMIN_PASSWORD.';
      return;
    }
    ctx.set('Content-Security-Policy', contentSecurityPolicy);
    ctx.set('Cache-Control', 'no-store');
    await board(ctx, next);
  };
}

/** "biology-v3" says more to an operator than a digest. */
function describeJob(job: { data?: unknown; name?: string }): string {
  const parsed = exportJobSchema.safeParse(job.data);
  return parsed.success ? `${parsed.data.slug}-v${parsed.data.versionNumber}.zip` : (job.name ?? 'export');
}

/** BullMQ starts with the number 0; a build reports files. */
function toPercent(progress: unknown): number {
  if (typeof progress !== 'object' || progress === null || !('done' in progress) || !('total' in progress))
    return 0;
  return Math.floor((100 * Number(progress.done)) / Number(progress.total));
}

function isAccount({ username, password }: Account, header: string): boolean {
  const [, encoded = ''] = /^Basic +(\S+)$/i.exec(header) ?? [];
  const given = Buffer.from(encoded, 'base64').toString('utf8');
  // Digests have one length, so the comparison tells nothing about the lengths of name and password.
  return timingSafeEqual(digest(given), digest(`${username}:${password}`));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
