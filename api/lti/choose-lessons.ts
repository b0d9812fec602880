import type { Context } from 'koa';
import type { Logger } from '../../shared/platform/log.ts';
import { findPlatform } from '../../shared/models/lti-platform.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { findOrganization } from '../../shared/models/organization.ts';
import type { LtiDependencies } from './dependencies.ts';
import type { Fields } from '../http/middleware/form-body.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { readChoiceForm } from './choice-form.ts';
import type { ChoiceForm } from './choice-form.ts';
import { mostOf, sendChoicePage } from './choice-page.ts';
import type { ChoiceFault } from './choice-page.ts';
import { ChoiceStore } from './choices.ts';
import type { Choice } from './choices.ts';
import { findChoosable, pageOfChoosable } from './choosable-lessons.ts';
import { deepLinkingResponse } from './deep-linking-response.ts';
import type { ChosenItem } from './deep-linking-response.ts';
import { LaunchFault } from './faults.ts';
import { originsOf } from './open-lesson.ts';
import { sendSentPage } from './sent-page.ts';

/** A choice that is under way, and the platform that waits for it. */
interface OpenChoice {
  id: string;
  choice: Choice;
  platform: LtiPlatform;
}

/**
 * Answers with a page of the lessons that may be chosen: those of the platform's organization alone.
 *
 * @throws {LaunchFault} choice_expired.
 */
export async function showLessons(
  deps: LtiDependencies,
  ctx: Context,
  id: string,
  fields: Fields,
): Promise<void> {
  await showPage(deps, ctx, await openChoice(deps, id), readChoiceForm(fields), null);
}

/**
 * Takes a choice, or its end without one, and sends it to the platform through the browser. What cannot be taken is
 * shown once more with the reason (422).
 *
 * @throws {LaunchFault} choice_expired.
 */
export async function takeChoice(
  deps: LtiDependencies,
  ctx: Context,
  id: string,
  fields: Fields,
): Promise<void> {
  const open = await openChoice(deps, id);
  const form = readChoiceForm(fields);
  if (form.action !== 'choose') return sendAnswer(deps, ctx, open, []);
  const items = await findItems(deps, open, form);
  if (!Array.isArray(items)) {
    ctx.status = 422;
    return showPage(deps, ctx, open, form, items);
  }
  await sendAnswer(deps, ctx, open, items);
}

/** Read anew each time: a platform that was removed meanwhile chooses nothing any more. */
async function openChoice({ db, redis, config }: LtiDependencies, id: string): Promise<OpenChoice> {
  const choice = await new ChoiceStore(redis, config.redisPrefix).get(id);
  const platform = choice && (await findPlatform(db, choice.platformId));
  if (choice === null || platform?.status !== 'active') throw new LaunchFault('choice_expired');
  return { id, choice, platform };
}

async function showPage(
  deps: LtiDependencies,
  ctx: Context,
  { id, choice, platform }: OpenChoice,
  form: ChoiceForm,
  fault: ChoiceFault | null,
): Promise<void> {
  const { organizationId, issuer, authUrl } = platform;
  const [page, organization] = await Promise.all([
    pageOfChoosable(deps.db, organizationId, form),
    findOrganization(deps.db, organizationId),
  ]);
  const { allowedOrigins = [] } = organization ?? {};
  const platformOrigins = originsOf([issuer, authUrl, choice.returnUrl]);
  sendChoicePage(deps, ctx, {
    ...{ id, choice, form, page, fault },
    allowedOrigins: allowedOrigins.length === 0 ? null : [...allowedOrigins, ...platformOrigins],
  });
}

/** The chosen lessons in the versions that were chosen, all of them published still; else what is wrong. */
async function findItems(
  { db }: LtiDependencies,
  { choice, platform }: OpenChoice,
  { chosen }: ChoiceForm,
): Promise<ChosenItem[] | ChoiceFault> {
  if (chosen.size === 0) return 'nothingChosen';
  if (chosen.size > mostOf(choice)) return 'tooMany';
  const lessons = await findChoosable(db, platform.organizationId, [...chosen.keys()]);
  const items = lessons.flatMap(({ lessonId, versions }): ChosenItem[] => {
    const { versionId = null, hasColumn = false } = chosen.get(lessonId) ?? {};
    const version = versions.find(({ _id }) => versionId === null || _id === versionId);
    if (version === undefined) return [];
    return [{ version, isPinned: versionId !== null, hasColumn: choice.acceptsLineItem ? hasColumn : null }];
  });
  return items.length === chosen.size ? items : 'gone';
}

async function sendAnswer(
  deps: LtiDependencies,
  ctx: Context,
  { choice, platform }: OpenChoice,
  items: readonly ChosenItem[],
): Promise<void> {
  const jwt = await deepLinkingResponse(deps.lti, platform, choice, items, publicUrlOf(ctx, deps.config));
  const { _id, organizationId } = platform;
  (ctx.state.log as Logger).info(
    { platform: _id, organization: organizationId, lessons: items.length },
    'lessons chosen',
  );
  sendSentPage(deps, ctx, { choice, jwt });
}
