import { timingSafeEqual, createHash } from 'node:crypto';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { KoaAdapter } from '@bull-board/koa';
import type { Context, Middleware, Next } from 'koa';
import { LecternError } from '../../shared/errors.ts';
import { exportJobSchema, exportProgressSchema } from '../../shared/jobs.ts';
import type { ExportQueue } from '../../shared/queues.ts';
import { clientAddress } from '../client-address.ts';
import type { AppDependencies } from '../dependencies.ts';
import { isForeignWrite } from '../middleware/foreign-writes.ts';
import { presentError } from '../presenters/error.ts';

const basePath = '/admin/queues';

/** The page asks a foreign server for its fonts; it looks well with the system's, and nobody learns of its use. */
const foreignFonts = /<link href="https:\/\/fonts\.googleapis\.com\/[^>]*>/;

/** Bull Board's page works with its own files alone, and in no frame. */
const contentSecurityPolicy = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

interface Account {
  username: string;
  password: string;
}

/** The queues as Bull Board shows them, for the operator whose name and password are configured. */
export function adminQueues(
  account: Account,
  queue: ExportQueue,
  {
    config: { publicUrl },
    rateLimits,
    scoreQueue,
  }: Pick<AppDependencies, 'config' | 'rateLimits' | 'scoreQueue'>,
): Middleware {
  const publicOrigin = publicUrl === undefined ? undefined : new URL(publicUrl).origin;
  const exports = new BullMQAdapter(queue, { displayName: 'Exports', description: 'Archives to build' });
  exports.setFormatter('name', describeJob);
  exports.setFormatter('progress', describeProgress);
  const scores = new BullMQAdapter(scoreQueue, {
    displayName: 'Scores',
    description: 'Scores to send to learning platforms',
  });
  const server = new KoaAdapter();
  server.setBasePath(basePath);
  createBullBoard({
    queues: [exports, scores],
    serverAdapter: server,
    options: { uiConfig: { boardTitle: 'Lectern' } },
  });
  // It would answer with the message of any error; those are for the log, and rendered as all others are.
  server.setErrorHandler((error) => {
    throw error;
  });
  const board = server.registerPlugin();

  return async (ctx: Context, next: Next): Promise<void> => {
    if (ctx.path !== basePath && !ctx.path.startsWith(`${basePath}/`)) {
      await next();
      return;
    }
    const address = clientAddress(ctx);
    await rateLimits.perAddress.count(ctx, address);
    if (!isAccount(account, ctx.get('Authorization'))) {
      ctx.status = 401;
      ctx.set('WWW-Authenticate', 'Basic realm="Lectern", charset="UTF-8"');
      ctx.body = 'Log in with ADMIN_USERNAME and ADMIN_PASSWORD.';
      return;
    }
    await rateLimits.perAddress.uncount(ctx, address);
    if (isForeignWrite(ctx, publicOrigin)) {
      ctx.status = 403;
      ctx.body = presentError('Requests from other sites are refused');
      return;
    }
    ctx.set('Content-Security-Policy', contentSecurityPolicy);
    ctx.set('Cache-Control', 'no-store');
    await board(ctx, () => Promise.resolve());
    if (ctx.status === 404 && ctx.body === undefined) throw new LecternError('NOT_FOUND', 'Not found');
    if (typeof ctx.body === 'string') ctx.body = ctx.body.replace(foreignFonts, '');
  };
}

/** "biology-v3" says more to an operator than a digest. */
function describeJob(job: { data?: unknown; name?: string }): string {
  const parsed = exportJobSchema.safeParse(job.data);
  return parsed.success ? `${parsed.data.slug}-v${parsed.data.versionNumber}.zip` : (job.name ?? 'export');
}

/**
 * The figures of `export-status`, and what the board makes a ring of: percent of the files. BullMQ starts with the
 * number 0.
 */
function describeProgress(progress: unknown): object | number {
  const figures = exportProgressSchema.safeParse(progress).data;
  if (figures === undefined) return 0;
  return { progress: Math.floor((100 * figures.done) / figures.total), ...figures };
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
