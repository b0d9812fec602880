import type { Command } from 'commander';
import { listLessons } from '../../shared/models/lesson.ts';
import { listVersions } from '../../shared/models/lesson-version.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { findLessonTheme } from '../../shared/models/theme.ts';
import { deleteLesson, publishVersion, unpublish } from '../../shared/publishing/publishing.ts';
import { contextCommand, readingCommand, requireOrganization } from '../installation/context.ts';
import { findMissing } from '../../shared/publishing/check-version.ts';
import {
  describeLesson,
  findLessonVersions,
  findVersionNumbered,
  lessonTable,
  presentLesson,
} from '../lessons/find-lesson.ts';
import { count, note } from '../terminal/output.ts';
import { describePreview, previewLink, previewOfPublished } from '../lessons/play-links.ts';
import { prebuildArchive } from '../lessons/prebuild.ts';
import { addThemeOptions, changeTheme, describeTheme, presentTheme } from '../themes/theme-options.ts';
import type { ThemeOptions } from '../themes/theme-options.ts';
import { parseCount, parseUuid } from '../terminal/option-parsers.ts';
import { addLessonCheckCommand } from './lesson-check.ts';
import { addLessonConvertCommand } from './lesson-convert.ts';
import { addLessonExportCommand } from './lesson-export.ts';
import { addLessonLearnersCommand } from './lesson-learners.ts';
import { addLessonImportCommand } from './lesson-import.ts';
import { addLessonNewCommand } from './lesson-new.ts';

/** `lectern lesson …` */
export function addLessonCommands(lesson: Command): void {
  addLessonNewCommand(lesson);
  addLessonImportCommand(lesson);
  addLessonConvertCommand(lesson);
  addListCommand(lesson);
  addLessonCheckCommand(lesson);
  addPreviewCommand(lesson);
  addPublishCommand(lesson);
  addUnpublishCommand(lesson);
  addDeleteCommand(lesson);
  addLessonExportCommand(lesson);
  addLessonLearnersCommand(lesson);
  addSetThemeCommand(lesson);
}

function addListCommand(group: Command): void {
  readingCommand(
    group
      .command('list')
      .description('list the lessons of an organization')
      .requiredOption('--org <slug>', 'the organization'),
    async ({ db }, { org }: { org: string }) => {
      const { _id } = await requireOrganization(db, org);
      const lessons = await listLessons(db, _id);
      const versions = await listVersions(
        db,
        lessons.map((lesson) => lesson._id),
      );
      const found = lessons.map((lesson) => ({
        lesson,
        versions: versions.filter((version) => version.lessonId === lesson._id),
      }));
      const empty = `${org} has no lessons yet. Import one with: lectern lesson import PATH --org ${org}`;
      return { json: found.map(presentLesson), text: found.length === 0 ? empty : lessonTable(found) };
    },
  );
}

/** `lectern lesson preview`: prints a link with which an author plays a draft. */
function addPreviewCommand(group: Command): void {
  contextCommand(
    group
      .command('preview')
      .description('print a link that plays a version, including a draft, for an hour; it records nothing')
      .argument('<lesson-id>', 'the lesson; see lesson list', parseUuid)
      .option('--version <number>', 'by default the newest', parseCount),
    async (context, lessonId: string, options: { version?: number }) => {
      const lesson = await findLessonVersions(context.db, lessonId);
      const version = findVersionNumbered(lesson, options.version);
      const { _id: versionId, versionNumber, status } = version;
      const link = await previewLink(context, version);
      await context.audit(version.organizationId, 'preview.create', targetOf(version));
      const lines = [`${version.title}, version ${versionNumber} (${status})`, ...describePreview(link)];
      return { json: { lessonId, versionId, versionNumber, status, ...link }, text: lines.join('\n') };
    },
  );
}

function addPublishCommand(group: Command): void {
  contextCommand(
    group
      .command('publish')
      .description('publish a version, so that it can be played and exported')
      .argument('<lesson-id>', 'the lesson; see lesson list', parseUuid)
      .option('--version <number>', 'by default the newest', parseCount)
      .option('--force', 'publish it even if it cannot be played yet'),
    async (
      context,
      lessonId: string,
      { version: number, force = false }: { version?: number; force?: boolean },
    ) => {
      const { db, store } = context;
      const version = findVersionNumbered(await findLessonVersions(db, lessonId), number);
      const published = await publishVersion(db, store, version._id, { force });
      await context.audit(published.organizationId, 'version.publish', targetOf(published));
      await prebuildArchive(context, published);
      const { media, widgets } = await findMissing(db, version);
      for (const warning of [...media, ...widgets]) note(`warning: ${warning}`);
      const lesson = await findLessonVersions(db, lessonId);
      const preview = await previewOfPublished(context, published);
      const text = `Published version ${version.versionNumber} of ${describeLesson(lesson)}`;
      return {
        json: { ...presentLesson(lesson), preview },
        text: [text, ...describePreview(preview)].join('\n'),
      };
    },
  );
}

function addUnpublishCommand(group: Command): void {
  contextCommand(
    group
      .command('unpublish')
      .description('unpublish a version, or all')
      .argument('<lesson-id>', 'the lesson; see lesson list', parseUuid)
      .option('--version <number>', 'by default all versions', parseCount),
    async ({ db, audit }, lessonId: string, { version: number }: { version?: number }) => {
      const found = await findLessonVersions(db, lessonId);
      const version = number === undefined ? undefined : findVersionNumbered(found, number);
      const taken = await unpublish(db, lessonId, version?._id);
      await audit(found.lesson.organizationId, 'version.unpublish', {
        target: { type: 'lesson', id: lessonId },
        details: { versionId: version?._id ?? null },
      });
      const lesson = await findLessonVersions(db, lessonId);
      const text = `Unpublished ${count(taken, 'version')} of ${describeLesson(lesson)}`;
      return { json: presentLesson(lesson), text };
    },
  );
}

/** `lectern lesson set-theme` */
function addSetThemeCommand(group: Command): void {
  contextCommand(
    addThemeOptions(
      group
        .command('set-theme')
        .description(
          "override parts of the organization's look for a lesson; without an option, show the overrides",
        )
        .argument('<lesson-id>', 'the lesson; see lesson list', parseUuid),
    ),
    async (context, lessonId: string, options: ThemeOptions) => {
      const { lesson } = await findLessonVersions(context.db, lessonId);
      const { organizationId, title } = lesson;
      const own = await changeTheme(
        context,
        { organizationId, type: 'lesson', id: lessonId, name: title },
        options,
      );
      const theme = (await findLessonTheme(context.db, { organizationId, lessonId })) ?? {};
      const text = [
        `${title} (${lessonId}) has this theme, with its organization's:`,
        ...describeTheme(theme),
      ];
      return {
        json: { lessonId, theme: presentTheme(theme), own: presentTheme(own) },
        text: text.join('\n'),
      };
    },
  );
}

function addDeleteCommand(group: Command): void {
  contextCommand(
    group
      .command('delete')
      .description('delete a lesson: it can no longer be played or exported')
      .argument('<lesson-id>', 'the lesson; see lesson list', parseUuid),
    async ({ db, audit }, lessonId: string) => {
      const found = await findLessonVersions(db, lessonId);
      await deleteLesson(db, lessonId);
      await audit(found.lesson.organizationId, 'lesson.delete', { target: { type: 'lesson', id: lessonId } });
      const json = { ...presentLesson(found), status: 'deleted', latestVersion: null };
      return { json, text: `Deleted ${found.lesson.title} (${lessonId})` };
    },
  );
}

function targetOf({ _id: id, lessonId }: LessonVersion) {
  return { target: { type: 'version', id }, details: { lessonId } };
}
