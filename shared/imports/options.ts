import { z } from 'zod';
import type { RequestedImport } from '../models/lesson-import.ts';

/** The maximum size of the Upload-Metadata header. */
export const maxMetadataBytes = 4096;

const flag = (name: string) => z.enum(['true', 'false'], `${name} must be true or false`).default('false');

const fileNameFault = 'filename must be a name of 1 to 200 characters, without a path';

/**
 * The metadata of an upload: the options of `lectern lesson import`. Clients of the protocol send further keys, which
 * are ignored.
 */
export const metadataSchema = z
  .object({
    filename: z
      .string(fileNameFault)
      .regex(/^[^\p{C}\u2028\u2029/\\]{1,200}$/u, fileNameFault)
      .default('package.zip'),
    asNew: flag('asNew'),
    asMedia: flag('asMedia'),
    publish: flag('publish'),
    force: flag('force'),
    mediaBaseUrl: z
      .url({ protocol: /^https?$/, error: 'mediaBaseUrl must be an http or https URL' })
      .max(2048, 'mediaBaseUrl must be at most 2048 characters')
      .optional(),
    questionsPerStep: z
      .string()
      .regex(/^[1-9]\d{0,3}$/, 'questionsPerStep must be a whole number from 1 to 9999')
      .transform(Number)
      .optional(),
    module: z
      .string()
      .regex(/^[1-9]\d{0,3}$/, 'module must be a whole number from 1 to 9999')
      .transform(Number)
      .optional(),
  })
  .refine(({ publish, force }) => publish === 'true' || force === 'false', 'force requires publish')
  .refine(
    ({ asMedia, asNew, publish }) => asMedia === 'false' || (asNew === 'false' && publish === 'false'),
    'asMedia excludes asNew and publish',
  )
  .transform(({ filename, asNew, asMedia, publish, force, ...rest }) => {
    const { mediaBaseUrl = null, questionsPerStep = null, module = null } = rest;
    const options: RequestedImport = {
      asNew: asNew === 'true',
      asMedia: asMedia === 'true',
      publish: publish === 'true',
      force: force === 'true',
      ...{ mediaBaseUrl, questionsPerStep, module },
    };
    return { fileName: filename, options };
  });
