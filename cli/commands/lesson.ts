import { Command } from 'commander';
import { usedWidgetTypes } from '../../shared/lessons/blocks.ts';
import { isCoreWidget } from '../../shared/lessons/core-widgets.ts';
import { mediaReferences } from '../../shared/lessons/media-references.ts';
import { playabilityErrors } from '../../shared/lessons/playability.ts';
import type { Database } from '../../shared/models/database.ts';
import { findContent } from '../../shared/models/lesson-content.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { listLessons } from '../../shared/models/lesson.ts';
import { findMedia } from '../../shared/models/medium.ts';
import { findNewestReleases } from '../../shared/models/widget-release.ts';
import { importPackage } from '../../shared/packages/import.ts';
import { deleteLesson, publishVersion, unpublish } from '../../shared/publishing.ts';
import { requireOrganization, withContext } from '../context.ts';
import {
  describeLesson,
  findLessonVersions,
  findVersionNumbered,
  lessonTable,
  presentLesson,
} from '../lessons.ts';
import { count, note, print } from '../output.ts';
import { countValue, uuidValue, webAddressValue } from '../values.ts';
import { lessonExportCommand } from './lesson-export.ts';

interface JsonOption {
  json?: boolean;
}

/** `lectern lesson …` */
export function lessonCommands(): Command {
  const lesson = new Command('lesson').description('lessons and their versions');
  lesson.addCommand(importCommand());
  lesson.addCommand(listCommand());
  lesson.addCommand(checkCommand());
  lesson.addCommand(publishCommand());
  lesson.addCommand(unpublishCommand());
  lesson.addCommand(deleteCommand());
  lesson.addCommand(lessonExportCommand());
  return lesson;
}

interface ImportOptions extends JsonOption {
  org: string;
  publish?: boolean;
  force?: boolean;
  asNew?: boolean;
  mediaBaseUrl?: string;
}

function importCommand(): Command {
  return new Command('import')
    .description('import a lesson package, a folder or a ZIP, as a new version')
    .argument('<path>', 'the package')
    .requiredOption('--org <slug>', 'the organization that will own it')
    .option('--publish', 'publish the version')
    .option('--force', 'with --publish: also when it cannot be played yet')
    .option('--as-new', 'give lesson, version and media fresh ids')
    .option(
      '--media-base-url <url>',
      'media stay there, at their file names, and are downloaded at export',
      webAddressValue,
    )
    .option('--json', 'print one JSON document')
    .action(async (path: string, options: ImportOptions) => {
      const { asNew = false, mediaBaseUrl, publish = false, force = false } = options;
      const imported = await withContext(async ({ config, db, store, signal }) => {
        const organization = await requireOrganization(db, options.org);
        const result = await importPackage({ db, store, config }, organization, path, {
          asNew,
          signal,
          ...(mediaBaseUrl !== undefined && { mediaBaseUrl }),
        });
        for (const warning of result.warnings) note(`warning: ${warning}`);
        const version = publish
          ? await publishVersion(db, store, result.version._id, { force })
          : result.version;
        return { ...result, version };
      });
      const { version, media, widgets } = imported;
      const json = {
        lessonId: version.lessonId,
        versionId: version._id,
        versionNumber: version.versionNumber,
        slug: version.slug,
        published: version.status === 'published',
        media,
        widgets,
      };
      const state = json.published ? 'published' : 'draft';
      const text = [
        `Imported ${version.slug} version ${version.versionNumber} (${state}) with ${count(media, 'medium', 'media')}`,
        `  lesson  ${version.lessonId}`,
        `  version ${version._id}`,
      ].join('\n');
      print({ json, text }, options);
    });
}

function listCommand(): Command {
  return new Command('list')
    .description('list the lessons of an organization')
    .requiredOption('--org <slug>', 'the organization')
    .option('--json', 'print one JSON document')
    .action(async (options: { org: string } & JsonOption) => {
      const lessons = await withContext(async ({ db }) => {
        const { _id } = await requireOrganization(db, options.org);
        const found = await listLessons(db, _id);
        return Promise.all(found.map((lesson) => findLessonVersions(db, lesson._id)));
      });
      print({ json: lessons.map(presentLesson), text: lessonTable(lessons) }, options);
    });
}

function checkCommand(): Command {
  return new Command('check')
    .description('tell what would keep a version from being played or exported whole')
    .argument('<lesson-id>', '', uuidValue)
    .option('--version <number>', 'the newest one when left out', countValue)
    .option('--json', 'print one JSON document')
    .action(async (lessonId: string, options: { version?: number } & JsonOption) => {
      const checked = await withContext(async ({ db }) => {
        const lesson = await findLessonVersions(db, lessonId);
        const version = findVersionNumbered(lesson, options.version);
        return { lesson, version, ...(await checkVersion(db, version)) };
      });
      const { lesson, version, errors, warnings } = checked;
      const lines = [
        `${lesson.lesson.title}, version ${version.versionNumber}`,
        ...errors.map((error) => `  error: ${error.message}`),
        ...warnings.map((warning) => `  warning: ${warning}`),
        ...(errors.length + warnings.length === 0 ? ['  nothing to mend'] : []),
      ];
      const playability = { valid: errors.length === 0, errors };
      print({ json: { ...presentLesson(lesson), playability, warnings }, text: lines.join('\n') }, options);
      if (errors.length > 0) process.exitCode = 1;
    });
}

async function checkVersion(db: Database, version: LessonVersion) {
  const content = await findContent(db, version._id);
  if (content === null) return { errors: [], warnings: ['the content of this version is missing'] };
  const ids = mediaReferences(content);
  const media = await findMedia(db, { organizationId: version.organizationId, versionId: version._id }, ids);
  const pinned = new Set(version.widgets.map((pin) => pin.type));
  const custom = usedWidgetTypes(content).filter((type) => !isCoreWidget(type) && !pinned.has(type));
  const registered = await findNewestReleases(db, version.organizationId, custom);
  return {
    errors: playabilityErrors(content),
    warnings: [
      ...ids.filter((id) => !media.has(id)).map((id) => `no medium is known under ${id}`),
      ...custom
        .filter((type) => !registered.has(type))
        .map((type) => `no widget is registered for the type ${type}`),
    ],
  };
}

function publishCommand(): Command {
  return new Command('publish')
    .description('publish a version: it can be exported from then on')
    .argument('<lesson-id>', '', uuidValue)
    .option('--version <number>', 'the newest one when left out', countValue)
    .option('--force', 'also when it cannot be played yet')
    .option('--json', 'print one JSON document')
    .action(async (lessonId: string, options: { version?: number; force?: boolean } & JsonOption) => {
      const lesson = await withContext(async ({ db, store }) => {
        const version = findVersionNumbered(await findLessonVersions(db, lessonId), options.version);
        await publishVersion(db, store, version._id, { force: options.force === true });
        return findLessonVersions(db, lessonId);
      });
      print({ json: presentLesson(lesson), text: describeLesson(lesson) }, options);
    });
}

function unpublishCommand(): Command {
  return new Command('unpublish')
    .description('take back the publication of a version, or of all')
    .argument('<lesson-id>', '', uuidValue)
    .option('--version <number>', 'all when left out', countValue)
    .option('--json', 'print one JSON document')
    .action(async (lessonId: string, options: { version?: number } & JsonOption) => {
      const lesson = await withContext(async ({ db }) => {
        const found = await findLessonVersions(db, lessonId);
        const version =
          options.version === undefined ? undefined : findVersionNumbered(found, options.version);
        await unpublish(db, lessonId, version?._id);
        return findLessonVersions(db, lessonId);
      });
      print({ json: presentLesson(lesson), text: describeLesson(lesson) }, options);
    });
}

function deleteCommand(): Command {
  return new Command('delete')
    .description('delete a lesson: nothing of it can be reached from then on')
    .argument('<lesson-id>', '', uuidValue)
    .option('--json', 'print one JSON document')
    .action(async (lessonId: string, options: JsonOption) => {
      const lesson = await withContext(async ({ db }) => {
        const found = await findLessonVersions(db, lessonId);
        await deleteLesson(db, lessonId);
        return found;
      });
      const json = { ...presentLesson(lesson), status: 'deleted', latestVersion: null };
      print({ json, text: `Deleted ${lesson.lesson.slug} (${lessonId})` }, options);
    });
}
