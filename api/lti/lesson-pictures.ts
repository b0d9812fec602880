import { signAssetUrl } from '../../shared/media/asset-urls.ts';
import { findMedia } from '../../shared/models/medium.ts';
import { publicPath } from '../http/public-url.ts';
import type { ChoosableLesson } from './choosable-lessons.ts';
import type { LtiDependencies } from './dependencies.ts';

/** Larger pictures would make the page slow. */
const maxBytes = 2 * 1024 * 1024;

/** Returns signed URLs of the lessons' pictures, by lesson. Pictures that Lectern has not stored are missing. */
export async function pictureUrls(
  { db, config, secrets }: Pick<LtiDependencies, 'db' | 'config' | 'secrets'>,
  organizationId: string,
  lessons: readonly ChoosableLesson[],
): Promise<Map<string, string>> {
  const urls = await Promise.all(
    lessons.map(async ({ lessonId, versions: [{ _id: versionId, picture }] }) => {
      if (picture === null) return [];
      const medium = (await findMedia(db, { organizationId, versionId }, [picture])).get(picture);
      const asset = medium?.asset ?? null;
      if (medium === undefined || asset === null || asset.size > maxBytes) return [];
      if (!medium.mimeType.startsWith('image/')) return [];
      const { sha256, size } = asset;
      const file = { sha256, size, mimeType: medium.mimeType, fileName: `picture.${medium.extension}` };
      const base = publicPath(config);
      return [[lessonId, signAssetUrl(secrets.asset, { area: 'assets', ...file }, { base }).url] as const];
    }),
  );
  return new Map(urls.flat());
}
