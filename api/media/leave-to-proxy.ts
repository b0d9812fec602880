import type { Context } from 'koa';
import type { Config } from '../../shared/platform/config.ts';
import type { Logger } from '../../shared/platform/log.ts';
import type { OpenFile, ProxySource } from '../../shared/storage/store.ts';

export interface ProxyDependencies {
  config: Pick<Config, 'sendfileHeader'>;
  log: Logger;
}

/**
 * The URL paths under which the proxy knows the store's folder and the bucket, for its own use: see
 * deploy/nginx/lectern.conf.
 */
const proxyPaths = { file: '/lectern-files/', object: '/lectern-bucket/' };

/** Headers that a proxy would keep for its own response if the bucket fails; it gets them as X-Lectern-…. */
const headersOfSuccess = ['Content-Disposition', 'Cache-Control'];

/** Request headers that proxies evaluate by the file's time or by their own ETag. */
const proxyConditions = ['If-Match', 'If-Modified-Since', 'If-Unmodified-Since'];

/**
 * Leaves the body of a prepared GET response to the proxy, which replaces it with the file, or with the range that the
 * client requests. It has just been used, so it is not evicted before the proxy opens it.
 *
 * Returns false, and changes nothing, if Lectern must send the bytes: without SENDFILE_HEADER, without a proxy, and for
 * requests to which a proxy would send different bytes. Request headers never turn this on, so clients cannot learn
 * paths.
 */
export async function leaveToProxy(
  ctx: Context,
  file: Pick<OpenFile, 'proxySource'>,
  { config: { sendfileHeader }, log }: ProxyDependencies,
): Promise<boolean> {
  if (sendfileHeader === undefined || ctx.get('X-Forwarded-For') === '' || !agrees(ctx)) return false;
  let source: ProxySource | null;
  try {
    source = await file.proxySource();
  } catch (err) {
    log.warn({ err }, 'no URL of a file could be signed for the proxy, so the API sends the file');
    return false;
  }
  if (source === null) return false;
  if (source.kind === 'object') {
    ctx.set(sendfileHeader, proxyPaths.object + source.target);
    describeObject(ctx);
  } else {
    ctx.set(sendfileHeader, sendfileHeader === 'X-Sendfile' ? source.path : proxyPaths.file + source.name);
  }
  // For a file, the proxy applies the client's Range header itself. It says which range it sends.
  ctx.status = 200;
  ctx.remove('Content-Range');
  ctx.remove('Accept-Ranges');
  ctx.length = 0;
  ctx.respond = false;
  ctx.res.end();
  return true;
}

/** Returns whether a proxy sends the same part of the file as Lectern would. */
function agrees(ctx: Context): boolean {
  const hasRange = ctx.get('Range') !== '';
  return hasRange === (ctx.status === 206) && proxyConditions.every((name) => ctx.get(name) === '');
}

/** Adds what the proxy needs to request an object from the bucket and to describe it. */
function describeObject(ctx: Context): void {
  const { 'content-range': sent } = ctx.response.headers;
  if (typeof sent === 'string') ctx.set('X-Lectern-Range', sent.replace(/^bytes ([^/]+).*$/, 'bytes=$1'));
  for (const name of headersOfSuccess) {
    const value = ctx.res.getHeader(name);
    if (value !== undefined) ctx.set(`X-Lectern-${name}`, String(value));
    ctx.remove(name);
  }
}
