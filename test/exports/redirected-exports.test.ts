import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { Lectern } from '../../clients/typescript/src/index.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { s3Name, useS3Server } from '../storage/kinds.ts';
import { exportPath } from '../support/factories.ts';
import { temporaryFolder } from '../support/folders.ts';
import { environmentOf } from '../support/s3-server.ts';
import { useStarted } from '../support/use.ts';
import { startExportLab } from './lab.ts';
import { png } from './pictures.ts';

const s3Server = useS3Server();

describe.skipIf(s3Server === null)(`downloads of archives in ${s3Name}, which redirect to it`, () => {
  const lab = useStarted(
    async () => {
      if (s3Server === null) throw new Error(s3Name);
      const { settings } = await s3Server();
      const environment = environmentOf({ ...settings, prefix: `${randomUUID()}/` });
      const started = await startExportLab({ ...environment, S3_PRESIGNED_READS: 'true' });
      await started.harness.startWorker();
      return started;
    },
    (started) => started.close(),
  );
  const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

  test('bring no bytes through the API, and no credentials to the bucket', async () => {
    const version = await lab.build(png(1));
    const url = lab.api + exportPath(version);
    const get = (headers: Record<string, string> = {}, method = 'GET') =>
      fetch(url, { method, headers: { ...lab.headers, ...headers }, redirect: 'manual' });
    const redirect = await get();
    expect(redirect.status).toBe(302);
    expect(redirect.headers.get('cache-control')).toBe('no-store');
    expect((await bytesOf(redirect)).length).toBe(0);
    const location = redirect.headers.get('location') ?? '';
    expect(location).toMatch(/[?&]X-Amz-Expires=300&/);

    const archive = await fetch(location);
    const bytes = await bytesOf(archive);
    expect(archive.headers.get('content-type')).toBe('application/zip');
    expect(archive.headers.get('content-disposition')).toMatch(/^attachment; filename=".+-v1\.zip"$/);
    const etag = `"${digestOf(bytes).sha256}"`;
    expect(redirect.headers.get('etag')).toBe(etag);
    const digest = Buffer.from(digestOf(bytes).sha256, 'hex').toString('base64');
    expect(redirect.headers.get('repr-digest')).toBe(`sha-256=:${digest}:`);
    // Clients that follow redirects, as curl -L does, also with a range.
    const followed = await fetch(url, { headers: { ...lab.headers, range: 'bytes=10-19' } });
    expect([followed.status, await bytesOf(followed)]).toEqual([206, bytes.subarray(10, 20)]);
    expect((await get({ 'if-none-match': etag })).status).toBe(304);
    const head = await get({}, 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(bytes.length)]);
  });

  test('work with the client, which checks the digest and resumes', async () => {
    const version = await lab.build(png(2));
    const credentials = lab.headers.authorization.replace('Bearer ', '');
    const requests: [url: string, init: RequestInit][] = [];
    const client = new Lectern({
      url: lab.api,
      credentials,
      fetch: async (url, init) => {
        requests.push([url, init]);
        const response = await fetch(url, init);
        // The first transfer from the bucket breaks off.
        if (requests.filter(([one]) => !one.startsWith(lab.api)).length !== 1) return response;
        if (url.startsWith(lab.api)) return response;
        const bytes = (await bytesOf(response)).subarray(0, 1000);
        return new Response(bytes, { status: response.status, headers: response.headers });
      },
    });
    const path = `${await temporaryFolder()}/lesson.zip`;
    const { bytes, etag } = await client.exports.download(version.lessonId, version._id, { path });
    const whole = await bytesOf(await fetch(lab.api + exportPath(version), { headers: lab.headers }));
    expect([bytes, etag]).toEqual([whole.length, `"${digestOf(whole).sha256}"`]);
    const toBucket = requests.filter(([url]) => !url.startsWith(lab.api));
    expect(toBucket.map(([, { headers }]) => headers)).toEqual([{}, { range: 'bytes=1000-' }]);
  });
});
