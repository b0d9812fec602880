import { playedProps } from '../../shared/lessons/block-props.ts';
import type { Block as LessonBlock } from '../../shared/lessons/lesson-content.ts';
import type { Block } from '../block.ts';
import { element } from '../dom.ts';
import { blocks as readBlocks } from '../props.ts';
import type { Widget } from '../widget.ts';
import type { BlockHost } from './block-host.ts';
import { fillProps } from './block-text.ts';
import { rememberFocus } from './focus.ts';
import { awaitWidget, mountWidget } from './mounted-widget.ts';
import type { MountedBlock } from './mounted-widget.ts';
import { isVisible } from './visibility.ts';

/** Blocks, or one of them, on the page. */
export interface BlockView {
  /** Shows, hides and fills anew what other values of variables ask for; all else stays untouched. */
  update(): void;
  destroy(): void;
}

/** Puts blocks into an element, one below the other. What fails in one of them stays in it. */
export function showBlocks(
  parent: HTMLElement,
  blocks: readonly (Block | LessonBlock)[],
  blockHost: BlockHost,
): BlockView {
  const views = blocks.map((block) => showBlock(parent, { ...block, type: block.type ?? '' }, blockHost));
  return {
    update: () => views.forEach((view) => view.update()),
    destroy: () => views.forEach((view) => view.destroy()),
  };
}

function showBlock(parent: HTMLElement, block: Block, blockHost: BlockHost): BlockView {
  const host = element('div', { class: 'lectern-slot' });
  parent.append(host);
  const following = blockHost.followers(block.props.id);
  const rest = element('div', { class: 'lectern-stack' });
  if (following.length > 0) parent.append(rest);

  let mounted: MountedBlock | undefined;
  /** The widget that is mounted; undefined while it is on its way. */
  let widget: Widget | undefined;
  let nested: BlockView[] = [];
  let followers: BlockView | undefined;
  /** The props that the widget was mounted with, as JSON; undefined for those that no variable changes. */
  let filled: string | undefined;

  function clear(): void {
    for (const view of nested) view.destroy();
    nested = [];
    mounted?.destroy();
    mounted = widget = undefined;
  }

  function filledProps(props: Record<string, unknown>): Record<string, unknown> {
    const { plainProps = [] } = widget ?? {};
    return fillProps(props, { variables: blockHost.variables(), language: blockHost.language, plainProps });
  }

  function mount(ready: Widget, props: Record<string, unknown>): void {
    widget = ready;
    const shown = filledProps(props);
    filled = shown === props ? undefined : JSON.stringify(shown);
    mounted = mountWidget(host, { ...block, props: shown }, ready, blockHost, (place, blocks) => {
      nested.push(showBlocks(place, readBlocks(blocks), blockHost));
    });
  }

  function start(props: Record<string, unknown>): void {
    const found = blockHost.widgetFor(block.type);
    if (!(found instanceof Promise)) return mount(found, props);
    mounted = awaitWidget(host, block, found, blockHost, (ready) => mount(ready, props));
  }

  function refill(ready: Widget, props: Record<string, unknown>): void {
    const shown = filledProps(props);
    const isSame = filled === (shown === props ? undefined : JSON.stringify(shown));
    // Mounting anew would lose what the learner is writing.
    if (isSame || blockHost.hasDraft(host)) return nested.forEach((view) => view.update());
    const restoreFocus = rememberFocus(host);
    clear();
    mount(ready, props);
    restoreFocus();
  }

  function update(): void {
    const props = playedProps(block as LessonBlock, blockHost.overrides);
    const isShown = isVisible(props.visibleIf, blockHost.variables());
    host.hidden = rest.hidden = !isShown;
    if (!isShown) {
      destroy();
      return;
    }
    if (mounted === undefined) start(props);
    else if (widget !== undefined) refill(widget, props);
    if (followers) followers.update();
    else if (following.length > 0) followers = showBlocks(rest, following, blockHost);
  }

  function destroy(): void {
    clear();
    followers?.destroy();
    followers = undefined;
    rest.replaceChildren();
  }

  update();
  return { update, destroy };
}
