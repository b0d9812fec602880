import { beforeAll, describe, expect, inject, test } from 'vitest';
import { s3Name, useS3Server } from '../storage/kinds.ts';
import { environmentOf } from '../support/s3-server.ts';
import type { S3Server } from '../support/s3-server.ts';
import { errorIn, lecternHere } from './command-line.ts';
import { temporaryFolder } from '../support/folders.ts';

const s3Server = useS3Server();

interface Report {
  ok: boolean;
  checks: { name: string; ok: boolean; message: string }[];
}

describe.skipIf(s3Server === null)(`files in ${s3Name}`, () => {
  let server: S3Server;
  beforeAll(async () => {
    if (s3Server !== null) server = await s3Server();
  });

  async function environment(changes: Record<string, string> = {}): Promise<Record<string, string>> {
    return {
      LECTERN_DATA_DIR: await temporaryFolder(),
      MONGODB_URI: inject('mongodbUri'),
      REDIS_URL: inject('redisUrl'),
      ...environmentOf(server.settings),
      ...changes,
    };
  }

  async function storeCheck(changes: Record<string, string>) {
    const { stdout, stderr } = await lecternHere(await environment(changes), 'doctor', '--json');
    expect(stderr).toBe('');
    return (JSON.parse(stdout) as Report).checks.find(({ name }) => name === 'store');
  }

  test('doctor shows where they are', async () => {
    expect(await storeCheck({ S3_PREFIX: 'doctor' })).toMatchObject({
      ok: true,
      message: `bucket ${server.settings.bucket}/doctor at ${server.settings.endpoint}, copies limited to 107.4 GB`,
    });
  });

  test('doctor reports the problem with the bucket and its solution', async () => {
    expect(await storeCheck({ S3_BUCKET: 'no-such-bucket' })).toMatchObject({
      ok: false,
      message: expect.stringContaining('create the bucket no-such-bucket, or correct S3_BUCKET') as string,
    });
  });

  test('start soon reports an unresponsive bucket, and all of its settings together', async () => {
    const away = await lecternHere(await environment({ S3_ENDPOINT: 'http://127.0.0.1:1' }), 'start');
    expect(errorIn(away)).toContain(
      'does not respond (ECONNREFUSED): check that it runs, and that S3_ENDPOINT is correct.',
    );
    expect(away.stderr).not.toContain(server.settings.secretAccessKey);

    const wrong = await lecternHere(await environment({ S3_BUCKET: '', S3_ACCESS_KEY_ID: '' }), 'start');
    expect(errorIn(wrong).trimEnd().split('\n').slice(1)).toStrictEqual([
      '  S3_BUCKET is required with STORE=s3',
      '  S3_ACCESS_KEY_ID is required with S3_ENDPOINT or S3_SECRET_ACCESS_KEY',
    ]);
  });
});
