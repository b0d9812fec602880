import { z } from 'zod';
import { count, time, uuid } from '../http/responses.ts';
import { exportStates } from './export-status.ts';
import { completionRules } from '../../shared/lms/package-options.ts';
import { losses } from '../../shared/lms/state-codec.ts';
import { failureReasons } from '../../shared/media/downloads/failure.ts';

const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ description: 'In hex.' });
const localPath = z.string().meta({ description: 'The path of the file below the top-level folder.' });

export const exportStatusBody = z
  .strictObject({
    status: z.enum(exportStates).meta({
      description:
        '`none`: it was never requested, it was canceled, or its archive was evicted. `queued`: it waits for a ' +
        'worker. `building`: a worker builds it. `ready`: the archive can be downloaded. `failed`: `error` has the ' +
        'reason; the next request retries.',
    }),
    progress: z
      .strictObject({
        done: count.meta({ description: 'Files written so far.' }),
        total: count.meta({ description: 'Files in total; 0 until the build has counted them.' }),
        bytes: count.meta({ description: 'Bytes written so far.' }),
      })
      .meta({ description: 'The progress of the build.' }),
    position: z
      .int()
      .min(1)
      .optional()
      .meta({ description: 'The position in the queue, while it is `queued`; 1 is next.' }),
    reason: z
      .literal('no_worker')
      .optional()
      .meta({
        description:
          'While it is `queued` and no worker could take it. `no_worker`: no worker process is running; the operator ' +
          'has to start one.',
      }),
    error: z
      .strictObject({
        code: z.string().meta({ description: 'A code of the export errors.' }),
        message: z.string().meta({ description: 'For people.' }),
      })
      .optional()
      .meta({ description: 'While it is `failed`.' }),
  })
  .meta({ id: 'ExportStatus', description: 'The status of an export.' });

const packageBody = z
  .strictObject({
    format: z.string().meta({ description: 'The value of the parameter `format`.' }),
    options: z.strictObject({
      passMark: z.number().nullable().meta({ description: 'In percent; null if the score decides nothing.' }),
      completion: z.enum(completionRules).meta({ description: 'When a learner completes the lesson.' }),
      reportsFailure: z.boolean().meta({ description: 'Whether a missed pass mark is reported.' }),
      declaresPassMark: z
        .boolean()
        .meta({ description: 'Whether the manifest of SCORM 1.2 has the pass mark, too.' }),
      keepAliveMinutes: count
        .nullable()
        .meta({ description: 'Minutes between commits without a change; null for none.' }),
    }),
    stateSize: z.strictObject({
      maxCharacters: count.meta({ description: 'The limit of a learner’s state in the platform.' }),
      worstCaseCharacters: count
        .nullable()
        .meta({ description: 'The longest state; null if nothing limits an answer or a variable.' }),
      leastCharacters: count.meta({ description: 'The longest state after all losses.' }),
      state: z
        .enum(['full', 'truncated'])
        .meta({ description: '`full` if every state fits; `truncated` if it may lose parts.' }),
      mayLose: z.array(z.enum(losses)).meta({ description: 'The parts that it may lose, in this order.' }),
    }),
  })
  .meta({ description: 'In packages for learning platforms.' });

const signedUrl = {
  url: z.url().meta({
    description: 'The signed URL, for GET and HEAD, with `Range`, without credentials.',
  }),
  expiresAt: time.meta({ description: 'The expiry of the URL, in four hours.' }),
};
const file = {
  localPath,
  size: count.meta({ description: 'Bytes.' }),
  sha256,
  ...signedUrl,
};
const failure = {
  sourceUrl: z.string().nullable().meta({ description: 'The URL of its source, where it is known.' }),
  reason: z.enum(failureReasons),
  status: z.int().optional().meta({ description: 'The HTTP status of the source, if it responded.' }),
};

export const exportManifestBody = z
  .strictObject({
    lessonId: uuid,
    title: z.string(),
    versionNumber: z.int().min(1),
    versionId: uuid,
    publishedAt: time,
    exportedAt: time.meta({ description: 'The time of the first archive with this content.' }),
    formatVersion: z
      .string()
      .meta({ description: 'The version of the package format, as a semantic version.' }),
    files: z.strictObject({
      lesson: z.strictObject({ path: z.literal('./lesson.json'), ...signedUrl }),
      media: z.array(z.strictObject({ id: uuid, mimeType: z.string(), ...file })),
      widgets: z.array(
        z.strictObject({
          widgetType: z.string(),
          ...file,
          cssLocalPath: localPath.optional(),
          cssSize: count.optional(),
          cssSha256: sha256.optional(),
          cssUrl: z.url().optional().meta({ description: 'The signed URL of the stylesheet.' }),
        }),
      ),
      player: z.array(z.strictObject(file)).optional().meta({
        description:
          'With `include=player` or a `format`: index.html, the files of player/, and those of the format.',
      }),
    }),
    failedMedia: z.array(z.strictObject({ id: uuid, localPath, ...failure })),
    failedWidgets: z.array(
      z.strictObject({
        widgetType: z.string(),
        id: z.string().nullable().meta({ description: 'Null if there is no widget of that type.' }),
        ...failure,
        cssSourceUrl: z.string().optional().meta({
          description: 'The URL of the stylesheet of a widget whose module is missing.',
        }),
      }),
    ),
    attributions: z.array(
      z.strictObject({ mediaId: uuid, text: z.string(), url: z.string(), portfolioUrl: z.string() }),
    ),
    externalVideos: z
      .array(z.strictObject({ url: z.string() }))
      .optional()
      .meta({ description: 'Pages of videos that only their host plays. The archive has links to them.' }),
    package: packageBody.optional(),
  })
  .meta({
    id: 'ExportManifest',
    description: 'The manifest.json of an archive, with a signed URL for each file.',
  });
