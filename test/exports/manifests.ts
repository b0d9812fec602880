import { expect } from 'vitest';
import type { SignedManifest } from '../../api/exports/present-export-manifest.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { takeApart } from './exports.ts';
import type { Export } from './exports.ts';
import { exportPath, manifestPath } from '../support/factories.ts';
import { ask, jsonOf } from '../support/answers.ts';

interface Asking {
  api: string;
  headers: { authorization: string };
  /** Such as '?include=player'. */
  query?: string;
}

/** The file list of an export as integrators get it. */
export async function listFiles(
  { api, headers, query = '' }: Asking,
  version: LessonVersion,
): Promise<SignedManifest> {
  const answer = await ask(api + manifestPath(version) + query, { headers });
  expect({ status: answer.status, cache: answer.headers.get('cache-control') }).toEqual({
    status: 200,
    cache: 'no-store',
  });
  return jsonOf(answer) as SignedManifest;
}

/** The URL of each file by its path below the archive's top-level folder. */
export function addressesOf({ files }: SignedManifest): Map<string, string> {
  const listed: [string, string | undefined][] = [
    [files.lesson.path, files.lesson.url],
    ...[...files.media, ...(files.player ?? [])].map(({ localPath, url }): [string, string | undefined] => [
      localPath,
      url,
    ]),
    ...files.widgets.flatMap(({ localPath, url, cssLocalPath, cssUrl }): [string, string | undefined][] =>
      cssLocalPath === undefined
        ? [[localPath, url]]
        : [
            [localPath, url],
            [cssLocalPath, cssUrl],
          ],
    ),
  ];
  return new Map(listed.map(([path, url]) => [path.replace('./', ''), url ?? '']));
}

/** Downloads an export both ways and checks that all files but manifest.json are equal. */
export async function expectSameFiles(
  asking: Asking,
  version: LessonVersion,
): Promise<{ listed: SignedManifest; archive: Export }> {
  const zip = await ask(asking.api + exportPath(version) + (asking.query ?? ''), { headers: asking.headers });
  const archive = await takeApart(zip.body);
  const listed = await listFiles(asking, version);
  const addresses = addressesOf(listed);
  expect([...addresses.keys()].sort()).toEqual(
    [...archive.files.keys()].filter((path) => path !== 'manifest.json').sort(),
  );
  for (const [path, url] of addresses) {
    const { status, body } = await ask(url);
    expect({ path, status, same: body.equals(archive.files.get(path) ?? Buffer.alloc(0)) }).toEqual({
      path,
      status: 200,
      same: true,
    });
  }
  return { listed, archive };
}
