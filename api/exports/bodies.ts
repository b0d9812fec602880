import { z } from 'zod';
import { count, time, uuid } from '../http/responses.ts';
import { exportStates } from './export-status.ts';
import { failureReasons } from '../../shared/media/downloads/failure.ts';

const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ description: 'In hex.' });
const localPath = z.string().meta({ description: 'Where the file belongs, below the top-level folder.' });

export const exportStatusBody = z
  .strictObject({
    status: z.enum(exportStates).meta({
      description:
        '`none`: nobody has asked for it, it was cancelled, or its archive has left the store. `queued`: it waits ' +
        'for a worker. `building`, `ready`: as they say. `failed`: `error` says why; the next request tries anew.',
    }),
    progress: z
      .strictObject({
        done: count.meta({ description: 'Files that the archive has already.' }),
        total: count.meta({ description: 'Files that it will have; 0 until its build has counted them.' }),
        bytes: count.meta({ description: 'Bytes of those that it has.' }),
      })
      .meta({ description: 'How far the build is.' }),
    position: z
      .int()
      .min(1)
      .optional()
      .meta({ description: 'The place in the queue, while it is `queued`; 1 is the next one.' }),
    reason: z
      .literal('no_worker')
      .optional()
      .meta({
        description:
          'While it is `queued`, and does not just wait its turn. `no_worker`: no worker process is running; the ' +
          'operator has to start one.',
      }),
    error: z
      .strictObject({
        code: z.string().meta({ description: 'As in failures of exports.' }),
        message: z.string().meta({ description: 'For people.' }),
      })
      .optional()
      .meta({ description: 'While it is `failed`.' }),
  })
  .meta({ id: 'ExportStatus', description: 'Where an export is.' });

const address = {
  url: z.url().meta({
    description: 'The signed address: for GET and HEAD, with `Range`, without credentials.',
  }),
  expiresAt: time.meta({ description: 'When the address ends, four hours from now.' }),
};
const file = {
  localPath,
  size: count.meta({ description: 'Bytes.' }),
  sha256,
  ...address,
};
const failure = {
  sourceUrl: z
    .string()
    .nullable()
    .meta({ description: 'Where it should have come from, where that is known.' }),
  reason: z.enum(failureReasons),
  status: z.int().optional().meta({ description: 'The HTTP status of the source, when it answered.' }),
};

export const exportManifestBody = z
  .strictObject({
    lessonId: uuid,
    title: z.string(),
    versionNumber: z.int().min(1),
    versionId: uuid,
    publishedAt: time,
    exportedAt: time.meta({ description: 'When an archive with this content was first built.' }),
    formatVersion: z.string().meta({ description: 'Of the package format; a semantic version.' }),
    files: z.strictObject({
      lesson: z.strictObject({ path: z.literal('./lesson.json'), ...address }),
      media: z.array(z.strictObject({ id: uuid, mimeType: z.string(), ...file })),
      widgets: z.array(
        z.strictObject({
          widgetType: z.string(),
          ...file,
          cssLocalPath: localPath.optional(),
          cssSize: count.optional(),
          cssSha256: sha256.optional(),
          cssUrl: z.url().optional().meta({ description: 'As `url`, of the style sheet.' }),
        }),
      ),
      player: z
        .array(z.strictObject(file))
        .optional()
        .meta({ description: 'With `include=player`: index.html, and the files of player/.' }),
    }),
    failedMedia: z.array(z.strictObject({ id: uuid, localPath, ...failure })),
    failedWidgets: z.array(
      z.strictObject({
        widgetType: z.string(),
        id: z.string().nullable().meta({ description: 'Null where there is no widget of that type.' }),
        ...failure,
        cssSourceUrl: z.string().optional().meta({
          description: 'Of a module that could not be had, where the widget has a stylesheet from a URL.',
        }),
      }),
    ),
    attributions: z.array(
      z.strictObject({ mediaId: uuid, text: z.string(), url: z.string(), portfolioUrl: z.string() }),
    ),
  })
  .meta({
    id: 'ExportManifest',
    description: 'The manifest.json of an archive, with an address for each file.',
  });
