import type { Context } from 'koa';
import { message } from '../../shared/i18n/message.ts';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import type { LtiDependencies } from './dependencies.ts';
import { pageLanguage } from '../http/context.ts';
import { frameAncestors } from '../../shared/platform/parse-url.ts';
import { markup } from '../../shared/platform/html.ts';
import type { Html } from '../../shared/platform/html.ts';
import { toPageCursor } from '../http/pagination.ts';
import { publicPath } from '../http/public-url.ts';
import { fieldNames } from './selection-form.ts';
import type { SelectionForm } from './selection-form.ts';
import { selectionStyle } from './selection-style.ts';
import type { Selection } from './selections.ts';
import type { ChoosableLesson, ChoosablePage } from './choosable-lessons.ts';
import { sendNoticePage } from './notice-page.ts';

/** The reasons for rejecting a selection. */
export type SelectionFault = 'nothingChosen' | 'tooMany' | 'gone';

/** Returns the maximum number of lessons in a response to the platform. */
export function maxLessons({ acceptsMultiple }: Pick<Selection, 'acceptsMultiple'>): number {
  return acceptsMultiple ? 30 : 1;
}

interface SelectionPage {
  id: string;
  selection: Selection;
  form: SelectionForm;
  page: ChoosablePage;
  fault: SelectionFault | null;
  /** URLs of pictures by lesson. */
  pictures: ReadonlyMap<string, string>;
  /** Origins whose pages may frame this one; null for any. */
  allowedOrigins: readonly string[] | null;
}

/** Sends the page where teachers choose lessons: one form, without scripts. */
export function sendSelectionPage(
  deps: Pick<LtiDependencies, 'config' | 'player'>,
  ctx: Context,
  { id, selection, form, page, fault, pictures, allowedOrigins }: SelectionPage,
): void {
  const language = pageLanguage(ctx, selection.locale);
  const title = message(language, selection.acceptsMultiple ? 'selection.several' : 'selection.one');
  const url = `${publicPath(deps.config)}/lti/select/${id}`;
  const list = (lessons: ChoosableLesson[]) =>
    markup`<ul>${lessons.map((lesson) => lessonItem(lesson, { selection, form, language, pictures, url }))}</ul>`;
  const alert =
    fault === null ? null : message(language, `selection.${fault}`, { most: maxLessons(selection) });
  const none = message(language, form.search.trim() === '' ? 'selection.noLessons' : 'selection.noMatch');
  const main = markup`<h1>${title}</h1>
${alert === null ? [] : markup`<p class="fault" role="alert">${alert}</p>`}
<form method="get" action="${url}">
<div class="search" role="search">
<label for="lectern-search">${message(language, 'selection.search')}</label>
<input id="lectern-search" type="search" name="${fieldNames.search}" value="${form.search}" maxlength="200">
<button class="quiet">${message(language, 'selection.find')}</button>
</div>
${page.chosenElsewhere.length === 0 ? [] : group(message(language, 'selection.chosen'), list(page.chosenElsewhere))}
${group(message(language, 'selection.lessons'), page.lessons.length === 0 ? markup`<p class="none">${none}</p>` : list(page.lessons))}
${pagingRow(form, page, language)}
<div class="row end">
<button name="${fieldNames.action}" value="choose" formmethod="post">${message(language, 'selection.add')}</button>
<button name="${fieldNames.action}" value="cancel" formmethod="post" class="quiet">${message(language, 'selection.cancel')}</button>
</div>
</form>`;
  // The page's URL is the credential for the selection.
  ctx.set('Referrer-Policy', 'no-referrer');
  sendNoticePage(deps, ctx, {
    // Screen readers announce a new page's title, but not an alert that it has from the start.
    title: alert === null ? title : `${alert} ${title}`,
    ...{ language, main, wide: true, style: selectionStyle },
    directives: ["form-action 'self'", frameAncestors(allowedOrigins)],
  });
}

interface ItemContext {
  selection: Selection;
  form: SelectionForm;
  language: string;
  pictures: ReadonlyMap<string, string>;
  /** The URL of the page. */
  url: string;
}

/** Renders a lesson and its options, which count only if it is chosen. */
function lessonItem(
  { lessonId, versions }: ChoosableLesson,
  { selection, form, language, pictures, url }: ItemContext,
): Html {
  const [newest] = versions;
  const chosen = form.chosen.get(lessonId);
  const { versionId, hasColumn } = chosen ?? { versionId: null, hasColumn: true };
  const pick = selection.acceptsMultiple
    ? markup`<input type="checkbox" name="${fieldNames.several(lessonId)}"${checked(chosen !== undefined)}>`
    : markup`<input type="radio" name="${fieldNames.one}" value="${lessonId}"${checked(chosen !== undefined)}>`;
  const sizes = [
    message(language, 'selection.sections', { count: newest.totalSections }),
    message(language, 'selection.steps', { count: newest.totalSteps }),
    ...(newest.publishedAt === null
      ? []
      : [message(language, 'selection.published', { date: newest.publishedAt })]),
  ];
  const src = pictures.get(lessonId);
  const picture = src === undefined ? [] : markup`<img src="${src}" alt="" loading="lazy">`;
  const preview = message(language, 'selection.preview');
  const options = versions.map((version) => versionOption(version, versionId, language));
  const column = markup`<label><input type="checkbox" name="${fieldNames.column(lessonId)}"${checked(hasColumn)}> ${message(language, 'selection.column')}</label>`;
  return markup`
<li><label class="pick">${pick}<span><b id="title-${lessonId}"><bdi>${newest.title}</bdi></b> <small>${sizes.join(' · ')}</small></span>${picture}</label>
<a class="preview" href="${url}/preview/${lessonId}" target="_blank" rel="noopener" aria-describedby="title-${lessonId}">${preview}</a>
<div class="options" role="group" aria-labelledby="title-${lessonId}">
<label>${message(language, 'selection.version')} <select name="${fieldNames.version(lessonId)}"><option value="">${message(language, 'selection.newest', { number: newest.versionNumber })}</option>${options}</select></label>
${selection.acceptsLineItem ? column : []}
</div></li>`;
}

function versionOption(
  { _id, versionNumber, publishedAt }: LessonVersion,
  pinned: string | null,
  language: string,
): Html {
  const number = versionNumber;
  const label =
    publishedAt === null
      ? message(language, 'selection.undated', { number })
      : message(language, 'selection.pinned', { number, date: publishedAt });
  return markup`<option value="${_id}"${_id === pinned ? markup` selected` : []}>${label}</option>`;
}

function pagingRow({ after }: SelectionForm, { next }: ChoosablePage, language: string): Html[] {
  const button = (cursor: string, label: string) =>
    markup`<button class="quiet" name="${fieldNames.cursor}" value="${cursor}">${label}</button>`;
  const buttons = [
    ...(after === null ? [] : [button('', message(language, 'selection.first'))]),
    ...(next === null ? [] : [button(toPageCursor(next), message(language, 'selection.more'))]),
  ];
  return buttons.length === 0 ? [] : [markup`<div class="row">${buttons}</div>`];
}

function group(legend: string, content: Html): Html {
  return markup`<fieldset><legend>${legend}</legend>${content}</fieldset>`;
}

function checked(is: boolean): Html[] {
  return is ? [markup` checked`] : [];
}
