import { setImmediate } from 'node:timers/promises';
import type { ExportManifest } from '../../shared/packages/manifest.ts';

/** Files that are presented at once: others get their turn in between, and little is held at a time. */
const filesAtOnce = 500;

interface Signed {
  url: string;
  expiresAt: string;
}

type Files = ExportManifest['files'];

/** The contract's 4.6: manifest.json, and where each file of the archive can be fetched until `expiresAt`. */
export interface SignedManifest extends Omit<ExportManifest, 'files'> {
  files: {
    lesson: { path: Files['lesson'] } & Signed;
    media: (Files['media'][number] & Signed)[];
    widgets: (Files['widgets'][number] & Signed & { cssUrl?: string })[];
    player?: (NonNullable<Files['player']>[number] & Signed)[];
  };
}

/** Gives the address of a file. @param localPath as manifest.json has it: "./media/….png". */
export type AddressOf = (localPath: string, mimeType: string) => Promise<string>;

/** A {@link SignedManifest} as JSON, in pieces: a lesson may have 100,000 files. */
export async function* signedManifestJson(
  manifest: ExportManifest,
  { addressOf, expiresAt: until }: { addressOf: AddressOf; expiresAt: Date },
): AsyncGenerator<string> {
  const expiresAt = until.toISOString();
  const sign = async <File extends { localPath: string }>(file: File, mimeType: string) => ({
    ...file,
    url: await addressOf(file.localPath, mimeType),
    expiresAt,
  });
  const signWidget = async (widget: Files['widgets'][number]) => ({
    ...(await sign(widget, 'text/javascript')),
    ...(widget.cssLocalPath !== undefined && { cssUrl: await addressOf(widget.cssLocalPath, 'text/css') }),
  });
  const { files, ...rest } = manifest;
  const url = await addressOf(files.lesson, 'application/json');
  yield JSON.stringify(rest).slice(0, -1);
  yield `,"files":{"lesson":${JSON.stringify({ path: files.lesson, url, expiresAt })}`;
  yield* member('media', files.media, (medium) => sign(medium, medium.mimeType));
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
  for (let start = 0; start < files.length; start += filesAtOnce) {
    const presented = await Promise.all(files.slice(start, start + filesAtOnce).map(present));
    yield `${start === 0 ? '' : ','}${presented.map((file) => JSON.stringify(file)).join(',')}`;
    await setImmediate();
  }
  yield ']';
}

/** Of the files that come with the player. */
const types = new Map([
  ['js', 'text/javascript'],
  ['css', 'text/css'],
  ['html', 'text/html'],
]);

function typeOf(path: string): string {
  return types.get(path.slice(path.lastIndexOf('.') + 1)) ?? 'text/plain';
}
