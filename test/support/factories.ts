import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { inject } from 'vitest';
import { importPackage } from '../../shared/packages/import.ts';
import type { ImportOptions } from '../../shared/packages/import.ts';
import { issueApiKey } from '../../shared/models/api-key.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { createOrganization } from '../../shared/models/organization.ts';
import type { Organization, Plan } from '../../shared/models/organization.ts';
import { signEmbedToken, signLaunchToken, signPreviewToken } from '../../shared/tokens/player-tokens.ts';
import { publishVersion } from '../../shared/publishing/publishing.ts';
import { testPepper, testSigningSecrets } from './harness.ts';
import type { Harness } from './harness.ts';

/** Creates an organization with valid credentials. */
export async function buildOrganization(
  { db }: Pick<Harness, 'db'>,
  overrides: { plan?: Plan; name?: string } = {},
): Promise<{ organization: Organization; credentials: string; headers: { authorization: string } }> {
  const slug = `org-${randomUUID()}`;
  const organization = await createOrganization(db, {
    slug,
    name: 'An organization',
    plan: 'edtech',
    ...overrides,
  });
  const key = await issueApiKey(db, testPepper, {
    organizationId: organization._id,
    label: null,
    expiresAt: null,
  });
  const credentials = `${key.publicKey}.${key.secretKey}`;
  return { organization, credentials, headers: { authorization: `Bearer ${credentials}` } };
}

export interface BuiltMedium {
  id?: string;
  /** The file's bytes; omitted with a sourceUrl. */
  bytes?: Uint8Array;
  sourceUrl?: string;
  mimeType?: string;
  extension?: string;
  attribution?: { text: string; url: string; portfolioUrl: string };
}

export interface BuiltPackage {
  /** The folder of the package. */
  path: string;
  lessonId: string;
  versionId: string;
  /** In the given order. */
  mediaIds: string[];
}

/** Returns random bytes of no known type, which pass as any: a test of random ones fails once in a thousand runs. */
export function unknownBytes(size: number): Buffer {
  return randomBytes(size).fill(1, 0, Math.min(size, 8));
}

/**
 * Writes a lesson package to a new folder: by default one section and one step, with an image block for each medium.
 */
export async function buildPackage(
  overrides: {
    media?: BuiltMedium[];
    /** The manifest's files.widgets. */
    widgets?: object[];
    blocks?: (mediaIds: string[]) => unknown[];
    /** The id of an existing lesson, for its next version. */
    lessonId?: string;
    lesson?: object;
    sections?: unknown[];
    slug?: string;
  } = {},
): Promise<BuiltPackage> {
  const path = await mkdtemp(join(inject('runDir'), 'package-'));
  const { lessonId = randomUUID() } = overrides;
  const versionId = randomUUID();
  const media = (overrides.media ?? []).map((medium) => ({
    mimeType: 'image/png',
    extension: 'png',
    ...medium,
    id: medium.id ?? randomUUID(),
  }));
  const mediaIds = media.map(({ id }) => id);
  const pictures = mediaIds.map((id, index) => ({
    type: 'Image',
    props: { id: `Image-${index + 1}`, src: `media:${id}`, alt: '', caption: '' },
  }));
  const content = overrides.blocks?.(mediaIds) ?? [
    { type: 'Heading', props: { id: 'Heading-1', text: 'A heading', level: 2 } },
    ...pictures,
  ];
  const step = {
    id: randomUUID(),
    title: 'A step',
    order_index: 0,
    content: { root: { props: {} }, content },
  };
  const sections = overrides.sections ?? [
    { id: randomUUID(), title: 'A section', order_index: 0, steps: [step] },
  ];
  await write(join(path, 'lesson.json'), {
    lesson: {
      id: lessonId,
      slug: overrides.slug ?? 'a-lesson',
      title: 'A lesson',
      status: 'published',
      language: 'en',
      estimatedDuration: 5,
      variable_definitions: [],
      widget_settings: { overrides: {} },
      ...overrides.lesson,
    },
    sections,
    totalSections: sections.length,
    totalSteps: 1,
  });
  await write(join(path, 'manifest.json'), {
    lessonId,
    title: 'A lesson',
    versionNumber: 1,
    versionId,
    publishedAt: '2026-01-15T09:00:00.000Z',
    exportedAt: '2026-01-15T09:00:00.000Z',
    formatVersion: '1.0.0',
    files: {
      lesson: './lesson.json',
      media: media.map(({ id, extension, mimeType, sourceUrl }) => ({
        id,
        localPath: `./media/${id}.${extension}`,
        mimeType,
        ...(sourceUrl !== undefined && { sourceUrl }),
      })),
      widgets: overrides.widgets ?? [],
    },
    failedMedia: [],
    failedWidgets: [],
    attributions: media.flatMap(({ id, attribution }) =>
      attribution ? [{ mediaId: id, ...attribution }] : [],
    ),
  });
  for (const { id, extension, bytes } of media) {
    if (bytes !== undefined) await write(join(path, 'media', `${id}.${extension}`), bytes);
  }
  return { path, lessonId, versionId, mediaIds };
}

async function write(path: string, content: object): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content instanceof Uint8Array ? content : JSON.stringify(content));
}

/** Imports a package into an organization and publishes it. */
export async function buildVersion(
  { db, store, config }: Pick<Harness, 'db' | 'store' | 'config'>,
  organization: Organization,
  path: string,
  options: Partial<ImportOptions> & { publish?: boolean } = {},
): Promise<LessonVersion> {
  const { publish = true, ...rest } = options;
  const imported = await importPackage({ db, store, config }, organization, path, {
    asNew: false,
    signal: new AbortController().signal,
    ...rest,
  });
  return publish ? publishVersion(db, store, imported.version._id, { force: true }) : imported.version;
}

/** Returns the path of a version's archive. */
export function exportPath(version: Pick<LessonVersion, 'lessonId' | '_id'>): string {
  return `/api/lessons/${version.lessonId}/versions/${version._id}/export-zip`;
}

/** Returns the path of its export status. */
export function statusPath(version: Pick<LessonVersion, 'lessonId' | '_id'>): string {
  return exportPath(version).replace('export-zip', 'export-status');
}

/** Returns the path of its export manifest. */
export function manifestPath(version: Pick<LessonVersion, 'lessonId' | '_id'>): string {
  return exportPath(version).replace('export-zip', 'export-manifest');
}

type OfLesson = Pick<LessonVersion, 'organizationId' | 'lessonId'>;

/** Signs an embed token for the lesson of a version; `versionId` pins a version. */
export function buildLearnerToken(
  { organizationId, lessonId }: OfLesson,
  overrides: { learnerId?: string; versionId?: string; userAttributes?: string; seconds?: number } = {},
): string {
  const { seconds = 600, ...claims } = overrides;
  const learner = { versionId: null, learnerId: 'learner-1', userAttributes: '{}' };
  return signEmbedToken(testSigningSecrets, { organizationId, lessonId, ...learner, ...claims }, seconds)
    .token;
}

/** Signs a preview token for a version, which may be a draft. */
export function buildPreviewToken({
  organizationId,
  lessonId,
  _id: versionId,
}: OfLesson & Pick<LessonVersion, '_id'>): string {
  return signPreviewToken(testSigningSecrets, { organizationId, lessonId, versionId }).token;
}

/** Signs a launch token for the lesson of a version, like {@link buildLearnerToken}. */
export function buildLaunchToken(
  { organizationId, lessonId }: OfLesson,
  overrides: Partial<LaunchClaims> & { seconds?: number } = {},
): string {
  const { seconds = 600, ...claims } = overrides;
  const user = { versionId: null, ltiUserId: 'user-1', platformId: 'platform-1', contextId: 'context-1' };
  return signLaunchToken(testSigningSecrets, { organizationId, lessonId, ...user, ...claims }, seconds).token;
}

type LaunchClaims = Parameters<typeof signLaunchToken>[1];
