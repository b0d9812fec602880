import { buffer } from 'node:stream/consumers';
import { LecternError } from '../../../shared/platform/errors.ts';
import { bytesOf } from '../../../shared/storage/digest.ts';
import type { Store } from '../../../shared/storage/store.ts';
import { extensionOf, schemeOf, themeCss } from '../../../shared/theme/theme.ts';
import type { Theme, ThemeFile } from '../../../shared/theme/theme.ts';
import type { GeneratedFile } from '../generated-files.ts';
import type { PageTheme } from '../index-page.ts';

/** A theme as an archive carries it. */
export interface ArchiveTheme extends PageTheme {
  files: GeneratedFile[];
}

/**
 * Reads the files of a theme. The font becomes part of the stylesheet: a browser loads no font for a page that was
 * opened from a folder.
 */
export async function openTheme({ assets }: Pick<Store, 'assets'>, theme: Theme): Promise<ArchiveTheme> {
  const { logo, fontFile, logoAlt = '' } = theme;
  const scheme = schemeOf(theme);
  const font = fontFile && (await readAsset(assets, fontFile));
  const fontUrl = fontFile && font ? `data:${fontFile.mimeType};base64,${font.toString('base64')}` : null;
  const css = themeCss(theme, fontUrl);
  if (logo === undefined) return { css, scheme, logo: null, files: [] };
  const bytes = await readAsset(assets, logo);
  const path = `theme/logo.${extensionOf('logo', logo)}`;
  const { sha256, crc32, size } = logo;
  const file = { path, digest: { sha256, crc32, size }, chunks: () => bytesOf(bytes) };
  return { css, scheme, logo: { src: `./${path}`, alt: logoAlt }, files: [file] };
}

async function readAsset(assets: Store['assets'], file: ThemeFile): Promise<Buffer> {
  const opened = await assets.open(file);
  if (opened === null) throw new LecternError('INTERNAL_ERROR', "A file of the lesson's theme is missing");
  try {
    return await buffer(opened.chunks());
  } finally {
    await opened.close();
  }
}
