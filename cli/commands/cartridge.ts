import type { Command } from 'commander';
import type { Database } from '../../shared/models/database.ts';
import { pageOfLessons } from '../../shared/models/lesson-list.ts';
import type { ListPosition } from '../../shared/models/newest-first.ts';
import { findContent } from '../../shared/models/lesson-content.ts';
import { cartridgeVersionOf } from '../../shared/exports/package-query.ts';
import { presets } from '../../shared/lms/package-options.ts';
import type { Preset } from '../../shared/lms/package-options.ts';
import { LecternError } from '../../shared/platform/errors.ts';
import { contextCommand, requireOrganization } from '../installation/context.ts';
import { requirePublicUrl } from '../installation/urls.ts';
import { oneOf } from '../terminal/option-parsers.ts';
import { count } from '../terminal/output.ts';
import { outputTarget, writeOutput } from '../terminal/output-file.ts';
import type { CartridgeLink } from '../../worker/exports/profiles/cartridge-xml.ts';

/** No platform shows a course with more links. */
const maxLinks = 5_000;
const pageSize = 100;

interface CartridgeOptions {
  org: string;
  out: string;
  preset?: Preset;
  newest?: boolean;
}

/** `lectern cartridge` */
export function addCartridgeCommand(command: Command): void {
  contextCommand(
    command
      .requiredOption('--org <slug>', 'the organization')
      .requiredOption('--out <file>', 'the .imscc to write, or a folder')
      .option(
        '--preset <platform>',
        'the target platform; moodle gets Common Cartridge 1.1, the latest version it imports',
        oneOf(presets),
      )
      .option('--newest', 'links always play the newest version, instead of the one published now'),
    async (context, { org, out, preset, newest }: CartridgeOptions) => {
      const { db, config, signal } = context;
      const publicUrl = requirePublicUrl(config);
      const { _id, name } = await requireOrganization(db, org);
      const target = await outputTarget(out, `${org}-lessons.imscc`);
      const links = await linksOf(db, _id, newest === true);
      if (links.length === 0) throw new LecternError('NOT_FOUND', `${org} has no published lessons.`);
      const { orgCartridge } = await import('../lessons/org-cartridge.ts');
      const version = cartridgeVersionOf(preset === undefined ? '' : `preset=${preset}`);
      const cartridge = { id: _id, title: name, language: 'en', version };
      const chunks = await orgCartridge(cartridge, links, publicUrl);
      await writeOutput(target, chunks, signal);
      const { path, isStdout } = target;
      const text = `Wrote ${path} with ${count(links.length, 'link')}`;
      return { json: { path, links: links.length }, text, printTo: isStdout ? 'stderr' : 'stdout' };
    },
  );
}

/** Returns links to the published lessons, the oldest lesson first. @throws {LecternError} for too many. */
async function linksOf(db: Database, organizationId: string, playsNewest: boolean): Promise<CartridgeLink[]> {
  const { isGraded } = await import('../../shared/exports/lesson-texts.ts');
  const links: CartridgeLink[] = [];
  let after: ListPosition | null = null;
  do {
    const page = await pageOfLessons(db, organizationId, { status: 'published', limit: pageSize, after });
    for (const { lesson, latest } of page.lessons) {
      const content = latest === null ? null : await findContent(db, latest._id);
      if (latest === null || content === null || latest.problems.length > 0) continue;
      const versionId = playsNewest ? null : latest._id;
      links.push({ lessonId: lesson._id, versionId, title: latest.title, isGraded: isGraded(content) });
    }
    if (links.length > maxLinks) {
      const message = `The organization has more than ${maxLinks} published lessons. Export them one by one.`;
      throw new LecternError('INVALID_CONTENT', message);
    }
    after = page.next;
  } while (after !== null);
  return links.reverse();
}
