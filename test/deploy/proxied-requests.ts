import { exportJobOf } from '../../shared/exports/jobs.ts';
import { ask } from '../support/answers.ts';
import type { Answer } from '../support/answers.ts';
import { buildPackage, buildVersion, exportPath, unknownBytes } from '../support/factories.ts';
import type { Api } from '../support/use.ts';

/** Publishes a lesson, and downloads its archive without the proxy. */
export async function exportArchive(api: Api) {
  const media = [{ bytes: unknownBytes(300_000) }];
  const version = await buildVersion(api, api.organization, (await buildPackage({ media })).path);
  const path = exportPath(version);
  const whole = await ask(api.url + path, { headers: api.headers });
  return { archive: path, key: exportJobOf(version).key, whole, etag: whole.headers.get('etag') ?? '' };
}

/** Requests, and whether the proxy sends their file; Lectern alone knows the rules of the others. */
export const requestsFor = (
  etagOf: () => string,
): [string, Record<string, string> | (() => Record<string, string>), boolean, string?][] => [
  ['the whole file', {}, true],
  ['a range', { range: 'bytes=100-199' }, true],
  ['the rest of an interrupted download', () => ({ range: 'bytes=1234-', 'if-range': etagOf() }), true],
  ['the end', { range: 'bytes=-50' }, true],
  ['a longer end than the file', { range: 'bytes=-9999999' }, true],
  ['a file that it has in another version', { 'if-none-match': '"another"' }, true],
  ['a range of another version', { range: 'bytes=1234-', 'if-range': '"another"' }, false],
  ['several ranges', { range: 'bytes=0-3,10-19' }, false],
  ['a range outside of the file', { range: 'bytes=9999999-' }, false],
  ['a file that it has', () => ({ 'if-none-match': etagOf() }), false],
  ['the version that it knows', () => ({ 'if-match': etagOf() }), false],
  ['another version', { 'if-match': '"another"' }, false],
  ['a file by its time', { 'if-modified-since': new Date().toUTCString() }, false],
  ['a file by its time, older', { 'if-unmodified-since': new Date(0).toUTCString() }, false],
  ['the headers', {}, false, 'HEAD'],
  ['the headers of a range', { range: 'bytes=100-199' }, false, 'HEAD'],
];

/** Headers of a connection or a proxy, and the number of requests left. */
const changing = [
  'connection',
  'date',
  'keep-alive',
  'ratelimit',
  'server',
  'transfer-encoding',
  'x-sent-by',
];

/** Returns what a response must have in common with that of Lectern itself. */
export function comparable({ status, headers, body }: Answer) {
  return {
    status,
    headers: Object.fromEntries(
      [...headers]
        .filter(([name]) => !changing.includes(name))
        .map(([name, value]) => [name, value.replace(/max-age=\d+/, 'max-age=<seconds>')]),
    ),
    body: body.toString('latin1').replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, '<time>'),
  };
}
