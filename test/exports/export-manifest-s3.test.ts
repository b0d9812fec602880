import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { s3Name, useS3Server } from '../storage/kinds.ts';
import { buildVersion } from '../support/factories.ts';
import { twoRealLessons } from '../support/real-lessons.ts';
import { ask } from '../support/answers.ts';
import { startExportLab } from './held-exports.ts';
import type { ExportLab } from './held-exports.ts';
import { addressesOf, expectSameFiles, listFiles } from './manifests.ts';

const s3Server = useS3Server();

const lessons = await twoRealLessons();

describe.skipIf(s3Server === null)(`with files in ${s3Name}`, () => {
  let lab: ExportLab;
  /** Starts an API over the same bucket with direct downloads for clients. */
  let presigning: { api: string; headers: { authorization: string } };

  beforeAll(async () => {
    if (s3Server === null) return;
    const { settings } = await s3Server();
    lab = await startExportLab({
      STORE: 's3',
      S3_ENDPOINT: settings.endpoint ?? '',
      S3_BUCKET: settings.bucket,
      S3_ACCESS_KEY_ID: settings.accessKeyId ?? '',
      S3_SECRET_ACCESS_KEY: settings.secretAccessKey ?? '',
      S3_PREFIX: `${randomUUID()}/`,
    });
    await lab.harness.startWorker();
    presigning = { ...lab, api: await lab.harness.startApi({ S3_PRESIGNED_READS: 'true' }) };
  });
  afterAll(() => lab.close());

  test.each(lessons)(
    "every file of $name equals the archive's, through the API or directly from the bucket",
    async ({ path }) => {
      const version = await buildVersion(lab.harness, lab.organization, path, { asNew: true });
      const { listed } = await expectSameFiles(lab, version);
      for (const url of addressesOf(listed).values()) expect(url.startsWith(lab.api)).toBe(true);
      const direct = await expectSameFiles(presigning, version);
      for (const url of addressesOf(direct.listed).values()) expect(url.startsWith(lab.api)).toBe(false);
    },
  );

  test('a presigned bucket URL opens one file with its content type, and nothing after tampering', async () => {
    const version = await lab.build(Buffer.from('0123456789'), Buffer.from('abcdefghij'));
    const addresses = addressesOf(await listFiles(presigning, version));
    const [url = '', other = ''] = [...addresses]
      .filter(([path]) => path.startsWith('media/'))
      .map(([, at]) => at);
    const whole = await ask(url);
    expect([whole.status, whole.headers.get('content-type')]).toEqual([200, 'image/png']);
    const part = await ask(url, { headers: { range: 'bytes=2-4' } });
    expect([part.status, part.body.toString()]).toEqual([206, whole.body.subarray(2, 5).toString()]);
    const { pathname, search } = new URL(url);
    for (const wrong of [
      url.replace(
        /(X-Amz-Signature=)./,
        (_all, name: string) => `${name}${url.includes(`${name}0`) ? '1' : '0'}`,
      ),
      url.replace(/X-Amz-Expires=\d+/, 'X-Amz-Expires=604800'),
      other.replace(new URL(other).search, search),
      url.replace(search, ''),
    ]) {
      expect({ wrong: wrong !== url, status: (await ask(wrong)).status }).toEqual({
        wrong: true,
        status: 403,
      });
    }
    expect(pathname).toContain('/v1/assets/');
  });
});
