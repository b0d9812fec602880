import type { ExportManifest } from '../../shared/packages/manifest.ts';

/** Where a file of an export can be fetched, by its path in manifest.json ("./media/….png"). */
export type FileAddresses = ReadonlyMap<string, string>;

/** The paths of all files that manifest.json names. */
export function pathsOf({ files }: ExportManifest): { path: string; mimeType: string }[] {
  const script = 'text/javascript';
  return [
    { path: files.lesson, mimeType: 'application/json' },
    ...files.media.map(({ localPath, mimeType }) => ({ path: localPath, mimeType })),
    ...files.widgets.flatMap(({ localPath, cssLocalPath }) => [
      { path: localPath, mimeType: script },
      ...(cssLocalPath === undefined ? [] : [{ path: cssLocalPath, mimeType: 'text/css' }]),
    ]),
    ...(files.player ?? []).map(({ localPath }) => ({ path: localPath, mimeType: typeOf(localPath) })),
  ];
}

/** The contract's 4.6: manifest.json, and where each file of the archive can be fetched until `expiresAt`. */
export function presentExportManifest(
  manifest: ExportManifest,
  { addresses, expiresAt: until }: { addresses: FileAddresses; expiresAt: Date },
) {
  const expiresAt = until.toISOString();
  const urlOf = (path: string) => addresses.get(path);
  const signed = <File extends { localPath: string }>(file: File) => ({
    ...file,
    url: urlOf(file.localPath),
    expiresAt,
  });
  const { lesson, media, widgets, player } = manifest.files;
  return {
    ...manifest,
    files: {
      lesson: { path: lesson, url: urlOf(lesson), expiresAt },
      media: media.map(signed),
      widgets: widgets.map((widget) => ({
        ...signed(widget),
        ...(widget.cssLocalPath !== undefined && { cssUrl: urlOf(widget.cssLocalPath) }),
      })),
      ...(player && { player: player.map(signed) }),
    },
  };
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
