import { randomBytes } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Lectern } from '../../clients/typescript/src/index.ts';
import { createUploads } from '../../shared/imports/create-uploads.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { picture } from '../packages/import-support.ts';
import { zipFolder } from '../packages/zip-builder.ts';
import { s3Name, useS3Server } from '../storage/kinds.ts';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import { environmentOf } from '../support/s3-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { startBreakingProxy } from './breaking-proxy.ts';

const s3Server = useS3Server();

describe.skipIf(s3Server === null)(`uploads in ${s3Name}`, () => {
  test('a package that the client uploads over a breaking connection arrives intact, and its upload is deleted', async () => {
    if (s3Server === null) return;
    const harness = await startHarness(environmentOf((await s3Server()).settings));
    onTestFinished(() => harness.close());
    const { credentials } = await buildOrganization(harness);
    await harness.startWorker();
    const proxy = await startBreakingProxy(await harness.startApi(), { everyBytes: 8_000_000, times: 2 });
    onTestFinished(() => proxy.close());
    // More than two parts of a bucket.
    const bytes = Buffer.concat([picture(1).bytes, randomBytes(20_000_000)]);
    const path = await zipFolder((await buildPackage({ media: [{ bytes }] })).path);

    const lectern = new Lectern({ url: proxy.url, credentials });
    const { id } = await lectern.imports.create(await openAsBlob(path), { publish: true });
    const statuses: string[] = [];
    for await (const { status } of lectern.imports.follow(id)) statuses.push(status);
    expect(proxy.breaks()).toBe(2);
    expect(statuses.at(-1)).toBe('imported');
    const { report } = await lectern.imports.retrieve(id);
    const medium = await harness.db.media.findOne({ versionId: report?.versionId ?? '' });
    expect(medium?.asset?.sha256).toBe(digestOf(bytes).sha256);

    const isDeleted = async () => (await harness.db.lessonImports.findById(id))?.hasUpload === false;
    await waitFor('the upload to be deleted', isDeleted);
    const uploads = await createUploads(harness.config, harness.db);
    const { signal } = new AbortController();
    await expect(uploads.withFile(id, signal, () => Promise.resolve())).rejects.toThrow();
  });
});
