import { randomBytes, randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import type { ClientRequest } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Lectern } from '../../clients/typescript/src/index.ts';
import { createUploads } from '../../shared/imports/create-uploads.ts';
import { claimImport } from '../../shared/models/import-queue.ts';
import { insertImport, queueImport } from '../../shared/models/lesson-import.ts';
import { digestOf } from '../../shared/storage/digest.ts';
import { sweepUploads } from '../../worker/imports/sweep-uploads.ts';
import { picture } from '../packages/import-support.ts';
import { zipFolder } from '../packages/zip-builder.ts';
import { s3Name, useS3Server } from '../storage/kinds.ts';
import { buildOrganization, buildPackage } from '../support/factories.ts';
import { startHarness } from '../support/harness.ts';
import { jsonOf } from '../support/answers.ts';
import { environmentOf } from '../support/s3-server.ts';
import { waitFor } from '../support/wait-for.ts';
import { startBreakingProxy } from './breaking-proxy.ts';
import { begin, partHeaders, send } from './uploads.ts';
import type { ImportStatus, Target } from './uploads.ts';

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
    const run = { _id: id, leaseId: randomUUID() };
    await expect(uploads.withFile(run, signal, () => Promise.resolve())).rejects.toThrow();
  });

  test('slow uploads of one organization keep no upload of another one waiting', async () => {
    if (s3Server === null) return;
    const harness = await startHarness(environmentOf((await s3Server()).settings));
    onTestFinished(() => harness.close());
    const url = await harness.startApi();
    const [slow, other] = (await Promise.all(
      [1, 2].map(async () => {
        const { credentials } = await buildOrganization(harness);
        return { url, headers: { authorization: `Bearer ${credentials}` } };
      }),
    )) as [Target, Target];
    const beginOne = async (target: Target, size: number) =>
      (jsonOf(await begin(target, size)) as ImportStatus).id;
    const requests: ClientRequest[] = [];
    onTestFinished(() => requests.forEach((one) => one.destroy()));
    for (let count = 0; count < harness.config.import.perOrganization; count += 1) {
      const path = `/api/lessons/imports/${await beginOne(slow, 9_000_000)}`;
      const headers = { ...slow.headers, ...partHeaders, 'content-length': 9_000_000 };
      const sending = request(`${url}${path}`, { method: 'PATCH', headers }).on('error', () => undefined);
      sending.write(Buffer.alloc(1000));
      requests.push(sending);
    }
    const id = await beginOne(other, 1000);
    expect((await send(other, id, new Uint8Array(1000))).status).toBe(204);
  });

  test('copies of packages whose worker was killed are removed from its disk, and others stay', async () => {
    if (s3Server === null) return;
    const harness = await startHarness(environmentOf((await s3Server()).settings));
    onTestFinished(() => harness.close());
    const { db, config } = harness;
    const { organization } = await buildOrganization(harness);
    const options = {
      asNew: false,
      asMedia: false,
      publish: false,
      force: false,
      mediaBaseUrl: null,
      questionsPerStep: null,
      module: null,
    };
    const { _id } = await insertImport(db, {
      ...{ _id: randomUUID(), organizationId: organization._id, fileName: 'a.zip' },
      ...{ size: 10, metadata: '', options },
    });
    await queueImport(db, _id);
    const running = (await claimImport(db, _id, 60_000))?.leaseId;
    const spool = join(config.storeDir, 'spool');
    await mkdir(spool, { recursive: true });
    const left = [`import-${_id}-${randomUUID()}`, `import-${randomUUID()}-${randomUUID()}`];
    const kept = [`import-${_id}-${running}`, 'other'];
    for (const name of [...left, ...kept]) await writeFile(join(spool, name), 'x');
    await sweepUploads({ db, config, uploads: await createUploads(config, db) });
    expect((await readdir(spool)).sort()).toEqual(kept.sort());
  });
});
