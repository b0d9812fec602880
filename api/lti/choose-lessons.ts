import type { RequestContext } from '../http/context.ts';
import { message } from '../../shared/i18n/message.ts';
import { markup } from '../../shared/platform/html.ts';
import { pageLanguage } from '../http/page-language.ts';
import { findPlatform } from '../../shared/models/lti-platform.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { findOrganization } from '../../shared/models/organization.ts';
import type { LtiDependencies } from './dependencies.ts';
import type { Fields } from '../http/middleware/form-body.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { readChoiceForm } from './choice-form.ts';
import type { ChoiceForm } from './choice-form.ts';
import { maxLessons, sendChoicePage } from './choice-page.ts';
import type { ChoiceFault } from './choice-page.ts';
import { ChoiceStore } from './choices.ts';
import type { Choice } from './choices.ts';
import { findChoosable, pageOfChoosable } from './choosable-lessons.ts';
import { deepLinkingResponse } from './deep-linking-response.ts';
import type { ChosenItem } from './deep-linking-response.ts';
import { LaunchFault } from './faults.ts';
import { originsOf } from './open-lesson.ts';
import { sendNoticePage } from './notice-page.ts';

/** A choice in progress, with the platform that waits for it. */
interface OpenChoice {
  id: string;
  choice: Choice;
  platform: LtiPlatform;
}

/**
 * Sends a page of lessons to choose from, which are those of the platform's organization.
 *
 * @throws {LaunchFault} choice_expired.
 */
export async function showLessons(
  deps: LtiDependencies,
  ctx: RequestContext,
  id: string,
  fields: Fields,
): Promise<void> {
  await showPage(deps, ctx, await openChoice(deps, id), readChoiceForm(fields), null);
}

/**
 * Sends a choice, or an empty one after a cancellation, to the platform through the browser. An invalid choice gets the
 * page again, with the reason (422).
 *
 * @throws {LaunchFault} choice_expired.
 */
export async function takeChoice(
  deps: LtiDependencies,
  ctx: RequestContext,
  id: string,
  fields: Fields,
): Promise<void> {
  const open = await openChoice(deps, id);
  const form = readChoiceForm(fields);
  if (form.action !== 'choose') return sendResponse(deps, ctx, open, []);
  const items = await findItems(deps, open, form);
  if (!Array.isArray(items)) {
    ctx.status = 422;
    return showPage(deps, ctx, open, form, items);
  }
  await sendResponse(deps, ctx, open, items);
}

/** Reads the platform on each request, because it may be removed during the choice. */
async function openChoice({ db, redis, config }: LtiDependencies, id: string): Promise<OpenChoice> {
  const choice = await new ChoiceStore(redis, config.redisPrefix).get(id);
  const platform = choice && (await findPlatform(db, choice.platformId));
  if (choice === null || platform?.status !== 'active') throw new LaunchFault('choice_expired');
  return { id, choice, platform };
}

async function showPage(
  deps: LtiDependencies,
  ctx: RequestContext,
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

/** Returns the chosen lessons and versions if all are still published; else the fault. */
async function findItems(
  { db }: LtiDependencies,
  { choice, platform }: OpenChoice,
  { chosen }: ChoiceForm,
): Promise<ChosenItem[] | ChoiceFault> {
  if (chosen.size === 0) return 'nothingChosen';
  if (chosen.size > maxLessons(choice)) return 'tooMany';
  const lessons = await findChoosable(db, platform.organizationId, [...chosen.keys()]);
  const items = lessons.flatMap(({ lessonId, versions }): ChosenItem[] => {
    const { versionId = null, hasColumn = false } = chosen.get(lessonId) ?? {};
    const version = versions.find(({ _id }) => versionId === null || _id === versionId);
    if (version === undefined) return [];
    return [{ version, isPinned: versionId !== null, hasColumn: choice.acceptsLineItem ? hasColumn : null }];
  });
  return items.length === chosen.size ? items : 'gone';
}

/** Sends a page that posts the signed response to the platform: at once, or at a click where scripts are off. */
async function sendResponse(
  deps: LtiDependencies,
  ctx: RequestContext,
  { choice, platform }: OpenChoice,
  items: readonly ChosenItem[],
): Promise<void> {
  const jwt = await deepLinkingResponse(deps.lti, platform, choice, items, publicUrlOf(ctx, deps.config));
  const { _id, organizationId } = platform;
  ctx.state.log.info(
    { platform: _id, organization: organizationId, lessons: items.length },
    'lessons chosen',
  );
  const language = pageLanguage(ctx, choice.locale);
  const title = message(language, 'selection.returning');
  const main = markup`<h1>${title}</h1>
<form id="lectern-sent" method="post" action="${choice.returnUrl}">
<input type="hidden" name="JWT" value="${jwt}">
<button>${message(language, 'selection.continue')}</button>
</form>`;
  // Platforms may check the form's origin. They must not see the choice's URL, which is its credential.
  ctx.set('Referrer-Policy', 'strict-origin');
  sendNoticePage(deps, ctx, { language, title, main, script: { name: 'sent-page' } });
}
