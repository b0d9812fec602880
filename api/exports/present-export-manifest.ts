import { setImmediate } from 'node:timers/promises';
import type { ExportManifest } from '../../shared/packages/manifest.ts';

/** The number of files that are presented between two turns of the event loop, so that other requests proceed. */
const batchSize = 100;

interface Signed {
  url: string;
  expiresAt: string;
}

type Files = ExportManifest['files'];

/** manifest.json, with a signed URL for each file of the archive (docs/export.md). */
export interface SignedManifest extends Omit<ExportManifest, 'files'> {
  files: {
    lesson: { path: Files['lesson'] } & Signed;
    media: (Files['media'][number] & Signed)[];
    widgets: (Files['widgets'][number] & Signed & { cssUrl?: string })[];
    player?: (NonNullable<Files['player']>[number] & Signed)[];
  };
}

/** Returns the signed URL of a file. @param localPath as in manifest.json: "./media/….png". */
export type SignUrl = (localPath: string, mimeType: string) => Promise<string>;

/** Yields a {@link SignedManifest} as JSON in pieces, because a lesson may have 20,000 files. */
export async function* signedManifestJson(
  manifest: ExportManifest,
  { signUrl, expiresAt: until }: { signUrl: SignUrl; expiresAt: Date },
): AsyncGenerator<string> {
  const expiresAt = until.toISOString();
  const sign = async <File extends { localPath: string }>(file: File, mimeType: string) => ({
    ...file,
    url: await signUrl(file.localPath, mimeType),
    expiresAt,
  });
  const signWidget = async (widget: Files['widgets'][number]) => ({
    ...(await sign(widget, 'text/javascript')),
    ...(widget.cssLocalPath !== undefined && { cssUrl: await signUrl(widget.cssLocalPath, 'text/css') }),
  });
  const { files, ...rest } = manifest;
  const url = await signUrl(files.lesson, 'application/json');
  yield JSON.stringify(rest).slice(0, -1);
  yield `,"files":{"lesson":${JSON.stringify({ path: files.lesson, url, expiresAt })}`;
  yield* member('media', files.media, (file) => sign(file, file.mimeType));
  yield* member('widgets', files.widgets, signWidget);
  if (files.player !== undefined) {
    yield* member('player', files.player, (file) => sign(file, typeOf(file.localPath)));
  }
  yield '}}';
}

async function* member<File>(
  name: string,
  files: File[],
  present: (file: File) => Promise<object>,
): AsyncGenerator<string> {
  yield `,"${name}":[`;
  for (let start = 0; start < files.length; start += batchSize) {
    const presented = await Promise.all(files.slice(start, start + batchSize).map(present));
    yield `${start === 0 ? '' : ','}${presented.map((file) => JSON.stringify(file)).join(',')}`;
    await setImmediate();
  }
  yield ']';
}

/** MIME types of the player's files by extension. */
const playerTypes = new Map([
  ['js', 'text/javascript'],
  ['css', 'text/css'],
  ['html', 'text/html'],
]);

function typeOf(path: string): string {
  return playerTypes.get(path.slice(path.lastIndexOf('.') + 1)) ?? 'text/plain';
}
