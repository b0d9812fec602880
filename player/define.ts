import type { Credits } from './credits.ts';
import { element } from './dom.ts';
import { record } from './props.ts';
import type { CoreWidgetType } from '../shared/lessons/core-widgets.ts';
import type { PictureSize } from '../shared/lessons/picture-size.ts';
import { textDirection } from '../shared/i18n/message.ts';
import type { MountedWidget, Widget, WidgetContext } from './widget.ts';

/** The additions that core widgets get. They may be missing where a widget is mounted without a lesson. */
export interface CoreContext extends WidgetContext {
  /** Opens an external video on the page around the lesson. Undefined where that is not allowed. */
  openVideo?: ((this: void, page: string) => void) | undefined;
  creditsFor?: Credits['lineFor'] | undefined;
  /** Returns the size of a picture, by its reference, if the lesson knows it. */
  sizeOf?: ((this: void, src: string) => PictureSize | undefined) | undefined;
}

/** The input of a core widget's render function. */
export interface RenderOptions {
  props: Record<string, unknown>;
  state: unknown;
  tries: number;
  context: CoreContext;
}

/**
 * Makes a core widget from a function that fills its root element. The root has the lesson's language and direction, so
 * that a widget mirrors even on a page that does not set them.
 *
 * @param type the block type; the root's class is `lectern-` and the type in kebab-case
 * @param render returns `draft`, and `destroy` for cleanup beside removing the root
 */
export function defineWidget(
  type: CoreWidgetType,
  render: (root: HTMLElement, options: RenderOptions) => Partial<MountedWidget> | void,
  extras: Pick<Widget, 'plainProps'> = {},
): Widget {
  const name = type.replace(/\B[A-Z]/g, '-$&').toLowerCase();
  return {
    type,
    ...extras,
    mount(host, { props, state, tries, context }) {
      const { language } = context;
      const root = element('div', {
        class: `lectern-block lectern-${name}`,
        lang: language,
        dir: textDirection(language),
      });
      const rendered = render(root, { props: record(props), state, tries, context });
      // Attached last, so that the browser lays out each block only once.
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
