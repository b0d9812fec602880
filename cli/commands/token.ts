import type { Command } from 'commander';
import { LecternError } from '../../shared/platform/errors.ts';
import type { Database } from '../../shared/models/database.ts';
import { revokeTokens } from '../../shared/models/token-revocation.ts';
import type { RevokedTokens } from '../../shared/models/token-revocation.ts';
import { pseudonymOf } from '../../shared/tokens/learner-subject.ts';
import { printJson, RawJson } from '../../shared/platform/raw-json.ts';
import { parseSignTokenRequest } from '../../shared/tokens/sign-token-request.ts';
import { withJsonOutput } from '../terminal/json-output.ts';
import { contextCommand, requireOrganization, withContext } from '../installation/context.ts';
import type { CommandContext } from '../installation/context.ts';
import { findLessonVersions, findVersionNumbered } from '../lessons/find-lesson.ts';
import { noLinkMessage, playUrl } from '../lessons/play-links.ts';
import { parseCount, checkJson, parseLearnerId, parseUuid } from '../terminal/option-parsers.ts';

interface SignOptions {
  lesson: string;
  learner: string;
  version?: number;
  timeout?: number;
  attributes?: string;
}

interface RevokeOptions {
  org?: string;
  lesson?: string;
  learner?: string;
}

/** `lectern token …` */
export function addTokenCommands(token: Command): void {
  contextCommand(
    token
      .command('sign')
      .description('sign an embed token, as the API does for an integrator')
      .requiredOption('--lesson <id>', 'the lesson', parseUuid)
      .requiredOption('--learner <id>', 'your anonymous id for the learner', parseLearnerId)
      .option('--version <number>', 'pin a published version', parseCount)
      .option('--timeout <seconds>', 'how long it is valid, in seconds; by default 7200', parseCount)
      .option('--attributes <json>', 'userAttributes: a JSON object', checkJson),
    signToken,
  );

  withJsonOutput(
    token
      .command('revoke')
      .description(
        'revoke all tokens signed until now, of an organization, a lesson, a learner, or a combination',
      )
      .option('--org <slug>', 'the organization; required without --lesson')
      .option('--lesson <id>', 'one lesson', parseUuid)
      .option('--learner <id>', 'one learner', parseLearnerId),
    (options: RevokeOptions, command: Command) => {
      if (options.org === undefined && options.lesson === undefined)
        command.error('lectern: select tokens with --org or --lesson');
      return withContext(async ({ db, secrets, audit }) => {
        const tokens = await tokensToRevoke(db, options);
        const revokedBefore = new Date();
        const { keyPepper } = await secrets();
        await revokeTokens(db, keyPepper, tokens, revokedBefore);
        const { organizationId, lessonId, learnerId } = tokens;
        const learner = learnerId && pseudonymOf(keyPepper, { source: 'embed', organizationId, learnerId });
        await audit(organizationId, 'token.revoke', {
          target: learner === null ? null : { type: 'learner', id: learner },
          details: { lessonId },
        });
        await waitForNextSecond(revokedBefore);
        const json = { ...tokens, revokedBefore: revokedBefore.toISOString() };
        return { json, text: `Revoked ${describe(options)} signed up to ${json.revokedBefore}` };
      });
    },
  );
}

async function signToken(
  { config, db, secrets, audit }: CommandContext,
  { lesson: lessonId, learner, version: number, timeout, attributes }: SignOptions,
) {
  const found = await findLessonVersions(db, lessonId);
  const version = number === undefined ? null : findVersionNumbered(found, number);
  if (version !== null && version.status !== 'published') {
    throw new LecternError(
      'NOT_FOUND',
      `Version ${version.versionNumber} of ${version.slug} is not published.`,
    );
  }
  const request = parseSignTokenRequest(
    printJson({
      lessonId,
      versionId: version?._id,
      learnerId: learner,
      userAttributes: attributes === undefined ? undefined : new RawJson(attributes),
      timeout,
    }),
  );
  const { organizationId } = found.lesson;
  const { signing, keyPepper } = await secrets();
  const { signEmbedToken, tokenIdOf } = await import('../../shared/tokens/player-tokens.ts');
  const { token, expiresAt } = signEmbedToken(signing, { organizationId, ...request }, request.timeout);
  const { learnerId } = request;
  await audit(organizationId, 'token.sign', {
    target: { type: 'learner', id: pseudonymOf(keyPepper, { source: 'embed', organizationId, learnerId }) },
    details: { lessonId, token: tokenIdOf(token) },
  });
  const url = await playUrl(config, lessonId, token);
  const expires = expiresAt.toISOString();
  return {
    json: { token, expiresAt: expires, url },
    text: token,
    // On stderr, because scripts read the token from stdout.
    remark: url === null ? noLinkMessage : `This link plays the lesson until ${expires}:\n  ${url}`,
  };
}

/** @throws {LecternError} NOT_FOUND for an unknown organization or lesson */
async function tokensToRevoke(db: Database, { org, lesson, learner }: RevokeOptions): Promise<RevokedTokens> {
  const named = org === undefined ? null : (await requireOrganization(db, org))._id;
  const owner = lesson === undefined ? null : (await findLessonVersions(db, lesson)).lesson.organizationId;
  if (named !== null && owner !== null && named !== owner) {
    throw new LecternError('NOT_FOUND', `${org} has no lesson ${lesson}. See: lectern lesson list`);
  }
  return { organizationId: (named ?? owner) as string, lessonId: lesson ?? null, learnerId: learner ?? null };
}

function describe({ org, lesson, learner }: RevokeOptions): string {
  const of = [org, lesson && `lesson ${lesson}`, learner && `learner ${learner}`].filter(Boolean);
  return `tokens of ${of.join(', ')}`;
}

/**
 * Waits so that tokens signed after the command are valid: a token records its second of issue, and a revocation
 * rejects all tokens signed in the same second.
 */
async function waitForNextSecond(time: Date): Promise<void> {
  const restMs = 1000 - (time.getTime() % 1000);
  await new Promise((resolve) => setTimeout(resolve, restMs));
}
