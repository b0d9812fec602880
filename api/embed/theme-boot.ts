import type { Database } from '../../shared/models/database.ts';
import { findLessonTheme } from '../../shared/models/theme.ts';
import { maxAssetUrlSeconds, signAssetUrl } from '../../shared/media/asset-urls.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import { extensionOf, schemeOf, themeCss } from '../../shared/theme/theme.ts';
import type { ThemeFile, ThemeFileKind } from '../../shared/theme/theme.ts';
import type { Scheme } from '../../shared/theme/tokens.ts';
import { publicPath } from '../http/public-url.ts';
import type { ThemeBoot } from './boot-data.ts';

interface Dependencies {
  db: Database;
  config: Pick<Config, 'publicUrl'>;
  secrets: Pick<Secrets, 'asset'>;
}

/** The period in which logo and font have the same URLs, so that browsers find them in their caches. */
const periodSeconds = maxAssetUrlSeconds / 2;

/** The look of a lesson's page: its theme for the script, and the theme's scheme. */
interface PageLook {
  theme: ThemeBoot | null;
  /** Undefined if the page follows the device. */
  scheme: Scheme | undefined;
}

/** Returns the look of a lesson for its page. */
export async function lookOf(
  { db, config, secrets }: Dependencies,
  of: { organizationId: string; lessonId: string },
): Promise<PageLook> {
  const theme = await findLessonTheme(db, of);
  if (theme === null) return { theme: null, scheme: undefined };
  const until = new Date((Math.floor(Date.now() / 1000 / periodSeconds) + 2) * periodSeconds * 1000);
  const urlOf = (kind: ThemeFileKind, file: ThemeFile) => {
    const { sha256, size, mimeType } = file;
    const fileName = `${kind}.${extensionOf(kind, file)}`;
    const asset = { area: 'assets', sha256, size, mimeType, fileName } as const;
    return signAssetUrl(secrets.asset, asset, { until, base: publicPath(config) }).url;
  };
  const { logo, logoAlt = '', fontFile } = theme;
  const css = themeCss(theme, fontFile ? urlOf('fontFile', fontFile) : null);
  return {
    theme: { css, logo: logo ? { src: urlOf('logo', logo), alt: logoAlt } : null },
    scheme: schemeOf(theme),
  };
}
