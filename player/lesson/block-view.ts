import { playedProps } from '../../shared/lessons/block-props.ts';
import type { Block as LessonBlock } from '../../shared/lessons/lesson-content.ts';
import type { Block } from '../block.ts';
import { element } from '../dom.ts';
import { blocks as readBlocks } from '../props.ts';
import type { Widget } from '../widget.ts';
import { fillProps } from './block-text.ts';
import { rememberFocus } from './focus.ts';
import { awaitWidget, mountWidget } from './mounted-widget.ts';
import type { BlockHost, MountedBlock } from './mounted-widget.ts';
import { isVisible } from './visibility.ts';

/** One or more blocks on the page. */
export interface BlockView {
  /** Applies changed variables: shows or hides blocks and fills their texts. Other blocks stay untouched. */
  update(): void;
  destroy(): void;
}

/** Shows blocks in an element, one below the other. A failing block does not affect the others. */
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
  const { id } = block.props;
  const host = element('div', {
    class: 'lectern-slot',
    'data-lectern-block': typeof id === 'string' ? id : undefined,
  });
  parent.append(host);
  const following = blockHost.followers(block.props.id);
  const followersHost = element('div', { class: 'lectern-stack' });
  if (following.length > 0) parent.append(followersHost);

  let mounted: MountedBlock | undefined;
  /** The mounted widget; undefined while it loads. */
  let widget: Widget | undefined;
  let nested: BlockView[] = [];
  let followers: BlockView | undefined;
  /** The props that the widget was mounted with, as JSON; undefined if they contain no variable. */
  let filledJson: string | undefined;

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
    const filled = filledProps(props);
    filledJson = filled === props ? undefined : JSON.stringify(filled);
    mounted = mountWidget(host, { ...block, props: filled }, ready, blockHost, (nestedHost, blocks) => {
      nested.push(showBlocks(nestedHost, readBlocks(blocks), blockHost));
    });
  }

  function start(props: Record<string, unknown>): void {
    const found = blockHost.widgetFor(block.type);
    if (!(found instanceof Promise)) return mount(found, props);
    mounted = awaitWidget(host, block, found, blockHost, (ready) => mount(ready, props));
  }

  function refill(ready: Widget, props: Record<string, unknown>): void {
    const filled = filledProps(props);
    const isSame = filledJson === (filled === props ? undefined : JSON.stringify(filled));
    // Mounting the widget again would lose the learner's draft.
    if (isSame || blockHost.hasDraft(host)) return nested.forEach((view) => view.update());
    if (mounted?.update) {
      filledJson = JSON.stringify(filled);
      for (const view of nested) view.destroy();
      nested = [];
      mounted.update(filled);
      return;
    }
    const restoreFocus = rememberFocus(host);
    clear();
    mount(ready, props);
    restoreFocus();
  }

  function update(): void {
    const props = playedProps(block as LessonBlock, blockHost.overrides);
    const isShown = isVisible(props.visibleIf, blockHost.variables());
    host.hidden = followersHost.hidden = !isShown;
    if (!isShown) {
      destroy();
      return;
    }
    if (mounted === undefined) start(props);
    else if (widget !== undefined) refill(widget, props);
    if (followers) followers.update();
    else if (following.length > 0) followers = showBlocks(followersHost, following, blockHost);
  }

  function destroy(): void {
    clear();
    followers?.destroy();
    followers = undefined;
    followersHost.replaceChildren();
  }

  /** Retries loads that failed offline: a picture, a recording, the file of a widget. */
  function retry(): void {
    const notices = [...host.querySelectorAll('.lectern-missing')];
    const isOwn = notices.some((missing) => missing.closest('.lectern-slot') === host);
    if (!isOwn || blockHost.hasDraft(host)) return;
    clear();
    update();
  }

  addEventListener('online', retry);
  update();
  return {
    update,
    destroy() {
      removeEventListener('online', retry);
      destroy();
    },
  };
}
