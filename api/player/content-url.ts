import type { SignedUrl } from '../../shared/media/asset-urls.ts';
import { signContentUrl, signPreviewUrl } from '../../shared/media/content-urls.ts';
import type { ContentScope } from '../../shared/media/content-urls.ts';
import { publicPath } from '../http/public-url.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import type { PlayerToken } from '../../shared/tokens/player-tokens.ts';

export interface ContentUrlDependencies {
  config: Pick<Config, 'publicUrl'>;
  secrets: Pick<Secrets, 'asset'>;
}

/** Signs the URL of a version's media and widgets for the bearer of a token. */
export function contentUrl(
  { config, secrets }: ContentUrlDependencies,
  { kind, expiresAt }: Pick<PlayerToken, 'kind' | 'expiresAt'>,
  of: ContentScope,
): SignedUrl {
  return kind === 'preview'
    ? signPreviewUrl(secrets.asset, of, expiresAt, config.publicUrl)
    : signContentUrl(secrets.asset, 'files', of, { base: config.publicUrl });
}

/** Signs the path of a version's chunks for the embed page, which loads them from its own origin. */
export function chunksUrl(
  { config, secrets }: ContentUrlDependencies,
  { kind, expiresAt }: Pick<PlayerToken, 'kind' | 'expiresAt'>,
  of: ContentScope,
): string {
  const base = publicPath(config);
  const { url } =
    kind === 'preview'
      ? signPreviewUrl(secrets.asset, of, expiresAt, base)
      : signContentUrl(secrets.asset, 'chunks', of, { base });
  return `${url}chunks/`;
}
