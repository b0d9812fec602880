import { signAssetUrl } from '../../shared/media/asset-urls.ts';
import type { Asset } from '../../shared/media/asset-urls.ts';
import { bytesOf } from '../../shared/storage/digest.ts';
import type { Harness } from '../support/harness.ts';

/** Stores a file; returns its signed path, which an API of the harness serves. */
export async function storeAsset(
  { store, config }: Pick<Harness, 'store' | 'config'>,
  bytes: Uint8Array | string,
  overrides: Partial<Asset> = {},
): Promise<{ path: string; sha256: string }> {
  const { sha256, size } = await store[overrides.area ?? 'assets'].put(bytesOf(Buffer.from(bytes)));
  const asset: Asset = {
    area: 'assets',
    sha256,
    size,
    mimeType: 'image/png',
    fileName: 'picture.png',
    ...overrides,
  };
  return { path: signAssetUrl(config.assetSecret ?? '', asset).url, sha256 };
}
