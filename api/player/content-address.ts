import type { SignedAddress } from '../../shared/media/asset-urls.ts';
import { signContentAddress, signPreviewAddress } from '../../shared/media/content-urls.ts';
import type { ContentOf } from '../../shared/media/content-urls.ts';
import type { PlayerToken } from '../../shared/tokens/player-tokens.ts';
import type { AppDependencies } from '../dependencies.ts';

/** Signs the URL of a version's media and widgets for the bearer of a token. */
export function contentAddress(
  { config, secrets }: Pick<AppDependencies, 'config' | 'secrets'>,
  { kind, expiresAt }: Pick<PlayerToken, 'kind' | 'expiresAt'>,
  of: Omit<ContentOf, 'preview'>,
): SignedAddress {
  return kind === 'preview'
    ? signPreviewAddress(secrets.asset, of, expiresAt, config.publicUrl)
    : signContentAddress(secrets.asset, of, { base: config.publicUrl });
}
