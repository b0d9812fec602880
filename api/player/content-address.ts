import type { SignedAddress } from '../../shared/media/asset-urls.ts';
import { signContentAddress, signPreviewAddress } from '../../shared/media/content-urls.ts';
import type { ContentOf } from '../../shared/media/content-urls.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import type { PlayerToken } from '../../shared/tokens/player-tokens.ts';

export interface ContentAddressDependencies {
  config: Pick<Config, 'publicUrl'>;
  secrets: Pick<Secrets, 'asset'>;
}

/** Signs the URL of a version's media and widgets for the bearer of a token. */
export function contentAddress(
  { config, secrets }: ContentAddressDependencies,
  { kind, expiresAt }: Pick<PlayerToken, 'kind' | 'expiresAt'>,
  of: Omit<ContentOf, 'preview'>,
): SignedAddress {
  return kind === 'preview'
    ? signPreviewAddress(secrets.asset, of, expiresAt, config.publicUrl)
    : signContentAddress(secrets.asset, of, { base: config.publicUrl });
}
