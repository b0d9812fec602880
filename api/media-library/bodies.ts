import { z } from 'zod';
import type { LessonUse } from '../../shared/drafts/media-uses.ts';
import { signAssetUrl } from '../../shared/media/asset-urls.ts';
import { fileKinds } from '../../shared/models/library-file.ts';
import type { LibraryFile } from '../../shared/models/library-file.ts';
import type { Config } from '../../shared/platform/config.ts';
import type { Secrets } from '../../shared/platform/secrets.ts';
import * as example from '../http/examples.ts';
import { publicPath } from '../http/public-url.ts';
import { count, time, uuid } from '../http/responses.ts';

const fields = {
  id: uuid.meta({ description: 'Drafts refer to the file as `media:<id>`.' }),
  kind: z.enum(fileKinds),
  name: z.string(),
  mimeType: z.string(),
  size: count.meta({ description: 'Bytes.' }),
  width: count.nullable().meta({ description: 'Of an uploaded picture, in pixels.' }),
  height: count.nullable(),
  alt: z.string().meta({ description: 'What a picture shows: a suggestion for new blocks.' }),
  credit: z.string().meta({ description: 'Who made it. Learners see credit and license.' }),
  creditUrl: z.string(),
  license: z.string(),
  url: z
    .string()
    .meta({ description: 'A signed URL of the bytes, valid for an hour. No script in them runs.' }),
  createdAt: time,
};
export const fileBody = z.strictObject(fields).meta({ id: 'MediaFile' });
export const fileList = z
  .strictObject({ files: z.array(fileBody), nextCursor: z.string().nullable() })
  .meta({ id: 'MediaFiles' });

const place = z.strictObject({
  stepId: z.string(),
  stepTitle: z.string(),
  block: z.strictObject({ id: z.string(), type: z.string() }).nullable(),
});
const lessonUse = z.strictObject({
  lessonId: uuid,
  title: z.string(),
  version: z
    .strictObject({ id: uuid, number: z.int().min(1), places: z.array(place) })
    .nullable()
    .meta({ description: 'The newest version that has the file.' }),
  draftSteps: z.array(z.string().nullable()).nullable().meta({
    description: 'The steps of the draft that refer to it; null among them stands for the skeleton.',
  }),
});
export const usedFileBody = z
  .strictObject({
    ...fields,
    uses: z.strictObject({
      lessons: z.array(lessonUse).meta({ description: 'At most 50.' }),
      isComplete: z.boolean(),
    }),
  })
  .meta({ id: 'UsedMediaFile' });

export const fileExample = {
  ...{ id: '7d1f0c52-6f37-5f0e-8d0e-6a2f6c1d9e77', kind: 'image' as const, name: 'harbour.jpg' },
  ...{ mimeType: 'image/jpeg', size: 73040, width: 1600, height: 1200, alt: 'A harbour at low tide' },
  ...{ credit: 'Ada Example', creditUrl: 'https://example.com/harbour', license: 'CC BY 4.0' },
  ...{ url: '/assets/v1/assets/…', createdAt: '2026-11-21T09:12:04.000Z' },
};
export const usedExample = {
  ...fileExample,
  uses: {
    lessons: [
      {
        ...{ lessonId: example.lessonId, title: 'How tides work', draftSteps: [example.stepId] },
        version: {
          ...{ id: example.versionId, number: 3 },
          places: [
            { stepId: example.stepId, stepTitle: 'A harbour', block: { id: 'picture', type: 'Image' } },
          ],
        },
      },
    ],
    isComplete: true,
  },
};

export interface PresentDependencies {
  config: Pick<Config, 'publicUrl'>;
  secrets: Pick<Secrets, 'asset'>;
}

export function presentFile({ config, secrets }: PresentDependencies, file: LibraryFile) {
  const { _id: id, kind, name, mimeType, extension, asset, width, height } = file;
  const { alt, credit, creditUrl, license, createdAt } = file;
  const signed = { area: 'assets', sha256: asset.sha256, size: asset.size, mimeType } as const;
  const { url } = signAssetUrl(
    secrets.asset,
    { ...signed, fileName: `${id}.${extension}` },
    { base: publicPath(config) },
  );
  return {
    ...{ id, kind, name, mimeType, size: asset.size, width, height, alt, credit, creditUrl, license },
    ...{ url, createdAt: createdAt.toISOString() },
  };
}

export function presentUse({ lessonId, title, version, draftSteps }: LessonUse) {
  const places = version?.places.map(({ stepId, stepTitle, block }) => ({
    ...{ stepId, stepTitle, block: block && { id: block.id, type: block.type } },
  }));
  return {
    ...{ lessonId, title, draftSteps },
    version: version && { id: version.id, number: version.number, places: places ?? [] },
  };
}
