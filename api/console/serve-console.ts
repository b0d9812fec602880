import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../shared/platform/config.ts';
import { codeOf, LecternError } from '../../shared/platform/errors.ts';
import { markup } from '../../shared/platform/html.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import type { StatefulMiddleware } from '../http/context.ts';
import { EncodedFile } from '../http/encoded-file.ts';
import { pageUrlsOf, publicPath } from '../http/public-url.ts';

const basePath = '/console';
const filesPath = `${basePath}/files/`;

/** The output folder of console/build.ts. */
const builtConsole = join(packageRoot, 'console', 'dist');

const yearSeconds = 365 * 24 * 3600;

/**
 * The console runs its own files only, and no other scripts of this origin, such as widgets. It sends requests only to
 * Lectern, and no page may frame it.
 */
const contentSecurityPolicy = (urls: readonly string[]) =>
  [
    "default-src 'none'",
    `script-src ${urls.map((url) => url + filesPath).join(' ')}`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const types: Record<string, string> = { css: 'text/css', js: 'text/javascript' };

/** Written by console/build.ts: the names of the files that the page refers to. */
interface Entry {
  script: string;
  style: string;
  preload: string[];
}

interface Console {
  page: EncodedFile;
  files: ReadonlyMap<string, EncodedFile>;
}

/**
 * Serves the console: its files, whose names contain a hash of their contents, and on every other path below `/console`
 * the page, which decides what to show. It needs no authentication: its requests to the API do.
 */
export function serveConsole(config: Pick<Config, 'publicUrl'>): StatefulMiddleware {
  let reading: Promise<Console> | undefined;
  return async (ctx, next) => {
    if (ctx.path !== basePath && !ctx.path.startsWith(`${basePath}/`)) {
      await next();
      return;
    }
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'GET, HEAD');
      throw new LecternError('METHOD_NOT_ALLOWED', `${ctx.method} is not allowed here`);
    }
    // Read at the first request, and again if it fails: it may be built in between.
    reading ??= readConsole(publicPath(config)).catch((error: unknown) => {
      reading = undefined;
      throw error;
    });
    const { page, files } = await reading;
    ctx.set('Cross-Origin-Resource-Policy', 'same-origin');
    if (ctx.path.startsWith(filesPath)) {
      const name = ctx.path.slice(filesPath.length);
      const [file, type] = [files.get(name), types[name.split('.').at(-1) ?? '']];
      if (file === undefined || type === undefined) throw new LecternError('NOT_FOUND', 'File not found');
      ctx.set('Cache-Control', `public, max-age=${yearSeconds}, immutable`);
      await file.send(ctx, type);
      return;
    }
    // Private, because the policy names the host of the request.
    ctx.set('Cache-Control', 'private, no-cache');
    ctx.set('Content-Security-Policy', contentSecurityPolicy(pageUrlsOf(ctx, config)));
    ctx.set('Cross-Origin-Opener-Policy', 'same-origin');
    ctx.set('Referrer-Policy', 'same-origin');
    ctx.set('X-Robots-Tag', 'noindex');
    await page.send(ctx, 'text/html');
  };
}

/** @throws {LecternError} INTERNAL_ERROR if it is not built. */
async function readConsole(base: string): Promise<Console> {
  try {
    const names = (await readdir(builtConsole)).filter((name) => !name.endsWith('.tmp'));
    const files = await Promise.all(
      names.map(async (name) => [name, new EncodedFile(await readFile(join(builtConsole, name)))] as const),
    );
    const entry = JSON.parse(await readFile(join(builtConsole, 'entry.json'), 'utf8')) as Entry;
    return { page: new EncodedFile(Buffer.from(consolePage(base, entry))), files: new Map(files) };
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    throw new LecternError('INTERNAL_ERROR', 'The console is not built. Run: npm run prepare', {
      cause: error,
    });
  }
}

function consolePage(base: string, { script, style, preload }: Entry): string {
  const url = (name: string) => `${base}${filesPath}${name}`;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Lectern</title>
<link rel="icon" type="image/svg+xml" href="${base}/favicon.svg">
<link rel="stylesheet" href="${url(style)}">
<script type="module" src="${url(script)}"></script>
${preload.map((name) => markup`<link rel="modulepreload" href="${url(name)}">\n`)}</head>
<body>
<div id="console"></div>
<noscript>The console needs JavaScript.</noscript>
</body>
</html>
`.source;
}
