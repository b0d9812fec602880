import type { RequestContext } from '../http/context.ts';
import { message } from '../../shared/i18n/message.ts';
import { markup } from '../../shared/platform/html.ts';
import { pageLanguage } from '../http/context.ts';
import { findPlatform } from '../../shared/models/lti-platform.ts';
import type { LtiPlatform } from '../../shared/models/lti-platform.ts';
import { findOrganization } from '../../shared/models/organization.ts';
import type { LtiDependencies } from './dependencies.ts';
import type { Fields } from '../http/middleware/form-body.ts';
import { publicUrlOf } from '../http/public-url.ts';
import { signPreviewToken } from '../../shared/tokens/player-tokens.ts';
import { readSelectionForm } from './selection-form.ts';
import type { SelectionForm } from './selection-form.ts';
import { maxLessons, sendSelectionPage } from './selection-page.ts';
import type { SelectionFault } from './selection-page.ts';
import { SelectionStore } from './selections.ts';
import type { Selection } from './selections.ts';
import { pictureUrls } from './lesson-pictures.ts';
import { findChoosable, pageOfChoosable } from './choosable-lessons.ts';
import { deepLinkingResponse } from './deep-linking-response.ts';
import type { ChosenItem } from './deep-linking-response.ts';
import { LaunchFault } from './faults.ts';
import { originsOf } from './open-lesson.ts';
import { sendNoticePage } from './notice-page.ts';

/** An open selection with its platform. */
export interface OpenSelection {
  id: string;
  selection: Selection;
  platform: LtiPlatform;
}

/**
 * Sends a page that lists the lessons of the platform's organization for selection.
 *
 * @throws {LaunchFault} choice_expired.
 */
export async function showLessons(
  deps: LtiDependencies,
  ctx: RequestContext,
  id: string,
  fields: Fields,
): Promise<void> {
  await showPage(deps, ctx, await openSelection(deps, id), readSelectionForm(fields), null);
}

/**
 * Sends a selection, or an empty one after a cancellation, to the platform through the browser. For an invalid
 * selection, sends the page again, with the reason (422).
 *
 * @throws {LaunchFault} choice_expired.
 */
export async function takeSelection(
  deps: LtiDependencies,
  ctx: RequestContext,
  id: string,
  fields: Fields,
): Promise<void> {
  const open = await openSelection(deps, id);
  const form = readSelectionForm(fields);
  if (form.action !== 'choose') return sendResponse(deps, ctx, open, []);
  const items = await findItems(deps, open, form);
  if (!Array.isArray(items)) {
    ctx.status = 422;
    return showPage(deps, ctx, open, form, items);
  }
  await sendResponse(deps, ctx, open, items);
}

/** Reads the platform on each request, because it may be removed while the page is open. */
export async function openSelection(
  { db, redis, config }: LtiDependencies,
  id: string,
): Promise<OpenSelection> {
  const selection = await new SelectionStore(redis, config.redisPrefix).get(id);
  const platform = selection && (await findPlatform(db, selection.platformId));
  if (selection === null || platform?.status !== 'active') throw new LaunchFault('choice_expired');
  return { id, selection, platform };
}

async function showPage(
  deps: LtiDependencies,
  ctx: RequestContext,
  { id, selection, platform }: OpenSelection,
  form: SelectionForm,
  fault: SelectionFault | null,
): Promise<void> {
  const { organizationId, issuer, authUrl } = platform;
  const [page, organization] = await Promise.all([
    pageOfChoosable(deps.db, organizationId, form),
    findOrganization(deps.db, organizationId),
  ]);
  const { allowedOrigins = [] } = organization ?? {};
  const platformOrigins = originsOf([issuer, authUrl, selection.returnUrl]);
  sendSelectionPage(deps, ctx, {
    ...{ id, selection, form, page, fault },
    pictures: await pictureUrls(deps, organizationId, [...page.chosenElsewhere, ...page.lessons]),
    allowedOrigins: allowedOrigins.length === 0 ? null : [...allowedOrigins, ...platformOrigins],
  });
}

/** Returns the chosen lessons and versions if all are still published; else the fault. */
async function findItems(
  { db }: LtiDependencies,
  { selection, platform }: OpenSelection,
  { chosen }: SelectionForm,
): Promise<ChosenItem[] | SelectionFault> {
  if (chosen.size === 0) return 'nothingChosen';
  if (chosen.size > maxLessons(selection)) return 'tooMany';
  const lessons = await findChoosable(db, platform.organizationId, [...chosen.keys()]);
  const items = lessons.flatMap(({ lessonId, versions }): ChosenItem[] => {
    const { versionId = null, hasColumn = false } = chosen.get(lessonId) ?? {};
    const version = versions.find(({ _id }) => versionId === null || _id === versionId);
    if (version === undefined) return [];
    return [
      { version, isPinned: versionId !== null, hasColumn: selection.acceptsLineItem ? hasColumn : null },
    ];
  });
  return items.length === chosen.size ? items : 'gone';
}

/** Sends a page that posts the signed response to the platform: at once, or at a click where scripts are off. */
async function sendResponse(
  deps: LtiDependencies,
  ctx: RequestContext,
  { selection, platform }: OpenSelection,
  items: readonly ChosenItem[],
): Promise<void> {
  const jwt = await deepLinkingResponse(deps.lti, platform, selection, items, publicUrlOf(ctx, deps.config));
  const { _id, organizationId } = platform;
  ctx.state.log.info(
    { platform: _id, organization: organizationId, lessons: items.length },
    'lessons chosen',
  );
  const language = pageLanguage(ctx, selection.locale);
  const title = message(language, 'selection.returning');
  const main = markup`<h1>${title}</h1>
<form id="lectern-sent" method="post" action="${selection.returnUrl}">
<input type="hidden" name="JWT" value="${jwt}">
<button>${message(language, 'selection.continue')}</button>
</form>`;
  // Platforms may check the form's origin. They must not see the selection's URL, which is its credential.
  ctx.set('Referrer-Policy', 'strict-origin');
  sendNoticePage(deps, ctx, { language, title, main, script: { name: 'sent-page' } });
}

/**
 * Redirects a teacher who chooses lessons to the newest published version of one, which records nothing.
 *
 * @throws {LaunchFault} choice_expired; lesson_not_available for a lesson that cannot be chosen.
 */
export async function previewLesson(
  deps: LtiDependencies,
  ctx: RequestContext,
  { selectionId, lessonId }: { selectionId: string; lessonId: string },
): Promise<void> {
  const { platform } = await openSelection(deps, selectionId);
  const { organizationId } = platform;
  const [lesson] = await findChoosable(deps.db, organizationId, [lessonId]);
  if (lesson === undefined) throw new LaunchFault('lesson_not_available');
  const [{ _id: versionId }] = lesson.versions;
  const { token } = signPreviewToken(deps.secrets.signing, { organizationId, lessonId, versionId });
  const query = new URLSearchParams({ token }).toString();
  ctx.redirect(`${publicUrlOf(ctx, deps.config)}/embed/${lessonId}?${query}`);
  ctx.status = 303;
}
