import { expect, test } from 'vitest';
import type { FailedMedium } from '../../shared/packages/manifest.ts';
import { buildPackage, buildVersion } from '../support/factories.ts';
import { answer, file, redirectTo, truncated } from '../support/origin.ts';
import type { Behavior } from '../support/origin.ts';
import { useOrigin } from '../support/use.ts';
import { mediaPaths } from './exports.ts';
import { useExportLab } from './lab.ts';
import { png } from './pictures.ts';

const maxBytes = 100_000;

/** An origin on a private address that no setting allows. */
const forbidden = useOrigin();
const lab = useExportLab({ MEDIA_MAX_BYTES: `${maxBytes}` }, { worker: true });

/**
 * Scripts for one picture each, with the reason in the manifest if it fails; without a reason the
 * archive contains it. media/downloads/ has all failures of downloads.
 */
const cases: Record<
  string,
  { plays: [Behavior, ...Behavior[]]; reason?: string; status?: number; requests: number }
> = {
  'an existing file': { plays: [file(png(1))], requests: 1 },
  'a missing file': { plays: [answer(404)], reason: 'not_found', status: 404, requests: 1 },
  'a body that is cut off once': { plays: [truncated(png(4), 10), file(png(4))], requests: 2 },
  'a file over the limit': {
    plays: [file(Buffer.alloc(maxBytes + 1))],
    reason: 'too_large',
    status: 200,
    requests: 1,
  },
  'a page instead of a picture': {
    plays: [file('<p>gone</p>', { contentType: 'text/html' })],
    reason: 'bad_type',
    requests: 1,
  },
};

test('every external file ends as expected, and none of them fails the export', async () => {
  const sources: { name: string; sourceUrl: string; reason?: string; status?: number }[] = [];
  for (const [index, [name, { plays, reason, status }]] of Object.entries(cases).entries()) {
    lab.origin.script(`/${index}.png`, ...plays);
    sources.push({
      name,
      sourceUrl: lab.origin.url(`/${index}.png`),
      ...(reason && { reason }),
      ...(status && { status }),
    });
  }
  lab.origin.script('/loop.png', redirectTo('/loop.png'));
  lab.origin.script('/inward.png', redirectTo(forbidden.url('/secret.png')));
  forbidden.serve('/secret.png', png(6));
  sources.push(
    { name: 'a loop of redirects', sourceUrl: lab.origin.url('/loop.png'), reason: 'too_many_redirects' },
    { name: 'a redirect inward', sourceUrl: lab.origin.url('/inward.png'), reason: 'blocked_address' },
    { name: 'a private address', sourceUrl: forbidden.url('/secret.png'), reason: 'blocked_address' },
  );
  const built = await buildPackage({ media: sources.map(({ sourceUrl }) => ({ sourceUrl })) });
  const version = await buildVersion(lab.harness, lab.organization, built.path);
  const exported = await lab.download(version);

  const ids = new Map(sources.map(({ name }, index) => [name, built.mediaIds[index] ?? '']));
  const byId = (one: FailedMedium, other: FailedMedium) => (one.id < other.id ? -1 : 1);
  const failures = sources.flatMap(({ name, sourceUrl, reason, status }): FailedMedium[] => {
    const id = ids.get(name) ?? '';
    if (reason === undefined) return [];
    const failure = {
      id,
      sourceUrl,
      localPath: `./media/${id}.png`,
      reason: reason as FailedMedium['reason'],
    };
    return [{ ...failure, ...(status !== undefined && { status }) }];
  });
  expect(exported.manifest.failedMedia.sort(byId)).toEqual(failures.sort(byId));
  const good = sources.filter(({ reason }) => reason === undefined);
  expect(mediaPaths(exported)).toEqual(good.map(({ name }) => `media/${ids.get(name)}.png`).sort());
  expect(exported.manifest.files.media.map(({ localPath }) => localPath.slice(2)).sort()).toEqual(
    mediaPaths(exported),
  );

  // Every reference is a path, so that adding the missing file completes the archive.
  const lesson = JSON.stringify(exported.lesson);
  expect(lesson).not.toContain('media:');
  for (const id of built.mediaIds) expect(lesson).toContain(`./media/${id}.png`);
  for (const [index, { requests }] of Object.values(cases).entries()) {
    expect({ index, requests: lab.origin.requests(`/${index}.png`) }).toEqual({ index, requests });
  }
  expect(forbidden.log).toEqual([]);
}, 60_000);

test('media with the same URL are fetched once and get a file each', async () => {
  lab.origin.serve('/shared.png', png(20));
  const sourceUrl = lab.origin.url('/shared.png');
  const built = await buildPackage({ media: Array.from({ length: 5 }, () => ({ sourceUrl })) });
  const version = await buildVersion(lab.harness, lab.organization, built.path);
  const exported = await lab.download(version);
  expect(mediaPaths(exported)).toEqual(built.mediaIds.map((id) => `media/${id}.png`).sort());
  for (const path of mediaPaths(exported)) expect(exported.files.get(path)?.equals(png(20))).toBe(true);
  expect(lab.origin.requests('/shared.png')).toBe(1);
});
