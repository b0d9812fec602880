import { message } from '../../shared/i18n/message.ts';
import { element } from '../dom.ts';
import { safeHtml } from '../html.ts';
import { text } from '../props.ts';
import type { CoreContext } from '../define.ts';
import { creditsIn } from '../figure.ts';

/**
 * Makes a button that shows and hides an author's hint, and the element in which the hint appears. Returns nothing for
 * an empty hint.
 *
 * @param about the part of the question that the hint is for, such as "Gap 1 of 3"; none for the whole question
 */
export function hintParts(source: unknown, context: CoreContext, about?: string): HTMLElement[] {
  if (!text(source)) return [];
  const name = message(context.language, 'widget.hint');
  const button = element(
    'button',
    {
      class: about === undefined ? 'lectern-hint-button lectern-is-named' : 'lectern-hint-button',
      type: 'button',
      'aria-expanded': 'false',
      'aria-label': about && `${name}: ${about}`,
    },
    about === undefined ? name : '?',
  );
  const hint = element('span', { class: 'lectern-hint-text lectern-rich', role: 'status', hidden: true });
  button.addEventListener('click', () => {
    hint.hidden = !hint.hidden;
    // Filled when it is shown, so that screen readers announce it.
    if (hint.hidden) hint.replaceChildren();
    else hint.append(safeHtml(source, context), ...creditsIn([source], context));
    button.setAttribute('aria-expanded', String(!hint.hidden));
  });
  return [button, hint];
}
