import { z } from 'zod';
import { listOf, recordOf } from '../lessons/json-values.ts';
import type { MediaAttribution } from '../lessons/player-lesson.ts';
import type { PackageOptions } from '../lms/package-options.ts';
import type { StateSize } from '../lms/worst-case.ts';
import type { FailureReason } from '../media/downloads/failure.ts';
import { widgetFieldsShape } from './field-shapes.ts';
import { boundedText, maxUrlLength, partTitle } from './text-shapes.ts';

/** The version of the package format that Lectern writes (formatVersion in manifest.json, semantic versioning). */
export const formatVersion = '1.0.0';

const uuid = z.guid('must be a UUID').toLowerCase();
const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/i, 'must be 64 hex digits')
  .toLowerCase();
/** Commands and file names contain version numbers. */
export const maxVersionNumber = 999_999;

const nonEmpty = z.string().min(1, 'must not be empty');
const size = z.int().nonnegative('must be a number of bytes, 0 or more');

const sourceUrl = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(maxUrlLength, `must be at most ${maxUrlLength} characters`);

const mediaFile = z.looseObject({
  id: uuid,
  /** Optional with a sourceUrl. */
  localPath: nonEmpty.optional(),
  mimeType: z.string().regex(/^[\w.+-]{1,127}\/[\w.+-]{1,127}$/, 'must be a MIME type such as image/png'),
  size: size.optional(),
  sha256: sha256.optional(),
  sourceUrl: sourceUrl.optional(),
});

const widgetFile = z.looseObject({
  widgetType: nonEmpty.max(255, 'must be at most 255 characters'),
  /** Optional with a sourceUrl. */
  localPath: nonEmpty.optional(),
  cssLocalPath: nonEmpty.optional(),
  size: size.optional(),
  sha256: sha256.optional(),
  cssSize: size.optional(),
  cssSha256: sha256.optional(),
  sourceUrl: sourceUrl.optional(),
  cssSourceUrl: sourceUrl.optional(),
  /** The props that it knows. */
  fields: widgetFieldsShape.optional(),
});

const attribution = z.looseObject({
  mediaId: uuid,
  text: boundedText(10_000).default(''),
  url: boundedText(maxUrlLength).default(''),
  portfolioUrl: boundedText(maxUrlLength).default(''),
});

const failedMedium = z.looseObject({
  id: uuid,
  sourceUrl: z.string().nullish(),
  localPath: z.string().optional(),
});

const failedWidget = z.looseObject({
  widgetType: z.string(),
  id: z.string().nullish(),
  sourceUrl: z.string().nullish(),
  cssSourceUrl: z.string().nullish(),
});

/**
 * manifest.json of a package, as an import reads it. An export writes more (sizes, digests, failures):
 * {@link ExportManifest}.
 */
export const manifestSchema = z.looseObject({
  lessonId: uuid,
  title: partTitle,
  versionNumber: z
    .int()
    .positive('must be 1 or more')
    .max(maxVersionNumber, `must be at most ${maxVersionNumber}`),
  versionId: uuid,
  publishedAt: z.string().nullish(),
  exportedAt: z.string().nullish(),
  formatVersion: z.string().regex(/^1\.\d+\.\d+$/, 'must be a version 1.x.y of the package format'),
  files: z.looseObject({
    lesson: z.string().optional(),
    media: z.array(mediaFile).default([]),
    widgets: z.array(widgetFile).default([]),
  }),
  failedMedia: z.array(failedMedium).default([]),
  failedWidgets: z.array(failedWidget).default([]),
  attributions: z.array(attribution).default([]),
});

export type PackageManifest = z.output<typeof manifestSchema>;

/** An entry in a list of manifest.json, or undefined in place of one with faults. */
type Entries<T> = readonly (T | undefined)[];

/** The entries of manifest.json that can be checked, whatever faults the rest has. */
export interface ManifestEntries {
  lessonId?: string | undefined;
  files: { media: Entries<z.output<typeof mediaFile>>; widgets: Entries<z.output<typeof widgetFile>> };
  failedMedia: Entries<z.output<typeof failedMedium>>;
  failedWidgets: Entries<z.output<typeof failedWidget>>;
  attributions: Entries<z.output<typeof attribution>>;
}

/** Returns the valid entries of a parsed manifest.json that has faults, at their places. */
export function validEntries(value: unknown): ManifestEntries {
  const { lessonId, files, failedMedia, failedWidgets, attributions } = recordOf(value);
  const { media, widgets } = recordOf(files);
  const valid = <T extends z.ZodType>(schema: T, list: unknown) =>
    listOf(list).map((entry) => schema.safeParse(entry).data);
  return {
    lessonId: uuid.safeParse(lessonId).data,
    files: { media: valid(mediaFile, media), widgets: valid(widgetFile, widgets) },
    failedMedia: valid(failedMedium, failedMedia),
    failedWidgets: valid(failedWidget, failedWidgets),
    attributions: valid(attribution, attributions),
  };
}

export interface FailedMedium {
  id: string;
  /** Null for an unknown media id. */
  sourceUrl: string | null;
  /** The path of the missing file: adding the file completes the archive. */
  localPath: string;
  reason: FailureReason;
  /** The HTTP status of the source's response, if there was one. */
  status?: number;
}

export interface FailedWidget {
  widgetType: string;
  /** The widget's id in file names; null if there is no widget of that type. */
  id: string | null;
  /** The URL of the missing file: the module, else the stylesheet. Null for a file without a URL. */
  sourceUrl: string | null;
  /** The URL of the stylesheet of a widget whose module is missing: an import then uses both. */
  cssSourceUrl?: string;
  reason: FailureReason;
  status?: number;
}

/** manifest.json of an archive that Lectern writes. */
export interface ExportManifest {
  lessonId: string;
  title: string;
  versionNumber: number;
  versionId: string;
  publishedAt: string;
  exportedAt: string;
  formatVersion: string;
  files: {
    lesson: './lesson.json';
    media: { id: string; localPath: string; mimeType: string; size: number; sha256: string }[];
    widgets: {
      widgetType: string;
      localPath: string;
      cssLocalPath?: string;
      size: number;
      sha256: string;
      cssSize?: number;
      cssSha256?: string;
    }[];
    /** index.html, the files of player/ and those of a package format, if the archive has them. */
    player?: { localPath: string; size: number; sha256: string }[];
  };
  failedMedia: FailedMedium[];
  failedWidgets: FailedWidget[];
  attributions: MediaAttribution[];
  /** The pages of videos that only their host plays. The archive has links to them. */
  externalVideos?: { url: string }[];
  /** In packages for learning platforms. */
  package?: PackageDescription;
}

/** How a package for learning platforms reports, and how much of a learner's state the platform keeps. */
export interface PackageDescription {
  format: string;
  options: PackageOptions;
  stateSize: StateSize;
}
