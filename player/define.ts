import { element } from './dom.ts';
import { record } from './props.ts';
import { textDirection } from '../shared/lessons/text-direction.ts';
import type { MountedWidget, Widget, WidgetContext } from './widget.ts';

/** What a core widget's render function works with. */
export interface RenderOptions {
  props: Record<string, unknown>;
  state: unknown;
  tries: number;
  context: WidgetContext;
}

/**
 * Makes a core widget from a function that fills its root element. The root carries the lesson's language and
 * direction, so that a widget mirrors even on a page that does not set them.
 *
 * @param type the block type; also names the root's class, `lectern-` and the type in kebab-case
 * @param render returns what has to be done when the widget goes, beside removing the root, and its drafts
 */
export function defineWidget(
  type: string,
  render: (root: HTMLElement, options: RenderOptions) => Partial<MountedWidget> | void,
): Widget {
  const name = type.replace(/\B[A-Z]/g, '-$&').toLowerCase();
  return {
    type,
    mount(host, { props, state, tries, context }) {
      const { language } = context;
      const root = element('div', {
        class: `lectern-block lectern-${name}`,
        lang: language,
        dir: textDirection(language),
      });
      const rendered = render(root, { props: record(props), state, tries, context });
      // Filled first and attached last: one layout a block, whatever it holds.
      host.append(root);
      return {
        ...rendered,
        destroy() {
          rendered?.destroy?.();
          root.remove();
        },
      };
    },
  };
}
