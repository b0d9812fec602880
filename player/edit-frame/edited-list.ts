import { playedProps } from '../../shared/lessons/block-props.ts';
import type { Block as LessonBlock } from '../../shared/lessons/lesson-content.ts';
import type { Block } from '../block.ts';
import { element } from '../dom.ts';
import { awaitWidget, mountWidget } from '../lesson/mounted-widget.ts';
import type { BlockHost, MountedBlock } from '../lesson/mounted-widget.ts';
import { blocks as readBlocks, record } from '../props.ts';
import type { Widget } from '../widget.ts';

/** The step around edited blocks. */
export type EditHost = BlockHost & {
  /** Watches the size of a block's element. */
  sizes: ResizeObserver;
};

/** A list of blocks on the page. */
export interface EditedList {
  /** Shows other blocks. Those that stay the same keep their elements; a changed one is mounted again. */
  show(this: void, blocks: readonly Block[]): void;
  destroy(this: void): void;
}

/** Shows blocks in an element, one below the other. Conditions of blocks have no effect, so that authors see all blocks. */
export function editedList(parent: HTMLElement, editHost: EditHost): EditedList {
  let shown = new Map<string, EditedBlock>();

  function show(blocks: readonly Block[]): void {
    const keyed = new Map<string, Block>();
    for (const block of withFollowers(blocks, editHost)) keyed.set(keyOf(block, keyed), block);
    const next = new Map(
      [...keyed].map(([key, block]) => [key, shown.get(key) ?? new EditedBlock(block, editHost)]),
    );
    for (const [key, gone] of shown) {
      if (next.has(key)) continue;
      editHost.sizes.unobserve(gone.slot);
      gone.unmount();
      gone.slot.remove();
    }
    const moved = putInOrder(
      parent,
      [...next.values()].map(({ slot }) => slot),
    );
    for (const [key, block] of keyed) {
      const edited = next.get(key);
      if (edited && moved.has(edited.slot)) edited.unmount();
      edited?.show(block);
    }
    shown = next;
  }

  return {
    show,
    destroy: () => show([]),
  };
}

/** Returns blocks with those of legacy zones behind them. */
function withFollowers(blocks: readonly Block[], editHost: EditHost): Block[] {
  return blocks.flatMap((block) => [
    block,
    ...withFollowers(editHost.followers(block.props.id) as readonly Block[], editHost),
  ]);
}

/** Returns what tells a block from its neighbors: its type and id, and a number if others have the same. */
function keyOf({ type, props: { id } }: Block, taken: ReadonlyMap<string, unknown>): string {
  const name = JSON.stringify([type, id]);
  let key = name;
  for (let number = 2; taken.has(key); number += 1) key = `${name} ${number}`;
  return key;
}

/** Puts elements into their order. @returns those with a frame that it unloads */
function putInOrder(
  parent: Partial<Pick<HTMLElement, 'moveBefore'>> & Pick<HTMLElement, 'insertBefore'>,
  slots: readonly HTMLElement[],
): Set<HTMLElement> {
  const unloaded = new Set<HTMLElement>();
  let next: HTMLElement | null = null;
  for (const slot of [...slots].reverse()) {
    if (slot.parentNode !== parent) parent.insertBefore(slot, next);
    else if (slot.nextSibling !== next) {
      if (parent.moveBefore) parent.moveBefore(slot, next);
      else {
        parent.insertBefore(slot, next);
        if (slot.querySelector('iframe')) unloaded.add(slot);
      }
    }
    next = slot;
  }
  return unloaded;
}

/** A block on the page. */
class EditedBlock {
  readonly slot: HTMLElement;
  readonly #type: string;
  readonly #editHost: EditHost;
  readonly #host: BlockHost;
  #parts: BlockParts = { props: {}, lists: new Map() };
  #shownJson: string | undefined;
  /** Undefined while it loads. */
  #widget: Widget | undefined;
  #mounted: MountedBlock | undefined;
  #hasFailed = false;
  /** The lists of a core widget by their paths. */
  readonly #lists = new Map<string, EditedList>();
  /** The lists of a custom widget, which it shows again with other props. */
  #others: EditedList[] = [];

  constructor({ type, props: { id } }: Block, editHost: EditHost) {
    this.#type = type;
    this.#editHost = editHost;
    this.#host = {
      ...editHost,
      report: (...report) => {
        this.#hasFailed = true;
        editHost.report(...report);
      },
    };
    this.slot = element('div', {
      class: 'lectern-slot',
      'data-lectern-block': typeof id === 'string' ? id : undefined,
    });
    editHost.sizes.observe(this.slot);
  }

  show(block: Block): void {
    this.#parts = partsOf(this.#type, playedProps(block as LessonBlock, this.#editHost.overrides));
    const { props, lists } = this.#parts;
    const json = JSON.stringify(props);
    const isSame = json === this.#shownJson;
    this.#shownJson = json;
    if (isSame) {
      for (const [path, list] of this.#lists) list.show(lists.get(path) ?? []);
    } else if (this.#mounted?.update && !this.#hasFailed) {
      this.#clearLists();
      this.#mounted.update(props);
    }
    // A widget that is loading gets the latest props.
    else if (this.#mounted === undefined || this.#widget !== undefined || this.#hasFailed) {
      this.unmount();
      this.#shownJson = json;
      this.#start();
    }
  }

  /** Empties the element. */
  unmount(): void {
    this.#clearLists();
    this.#mounted?.destroy();
    this.#mounted = this.#widget = this.#shownJson = undefined;
  }

  #start(): void {
    this.#hasFailed = false;
    const block = { type: this.#type, props: this.#parts.props };
    const mount = (ready: Widget) => this.#mount(ready);
    const found = this.#editHost.widgetFor(this.#type);
    if (!(found instanceof Promise)) mount(found);
    else this.#mounted = awaitWidget(this.slot, block, found, this.#host, mount);
  }

  #mount(ready: Widget): void {
    this.#widget = ready;
    const block = { type: this.#type, props: this.#parts.props };
    this.#mounted = mountWidget(this.slot, block, ready, this.#host, (nestedHost, blocks) =>
      this.#renderBlocks(nestedHost, readBlocks(blocks)),
    );
  }

  #renderBlocks(nestedHost: HTMLElement, blocks: readonly Block[]): void {
    const list = editedList(nestedHost, this.#editHost);
    const path = blocks[0]?.type === '' ? blocks[0].props.path : undefined;
    if (typeof path === 'string') {
      nestedHost.dataset.lecternList = path;
      this.#lists.set(path, list);
      list.show(this.#parts.lists.get(path) ?? []);
    } else {
      this.#others.push(list);
      list.show(blocks);
    }
  }

  #clearLists(): void {
    for (const list of [...this.#lists.values(), ...this.#others]) list.destroy();
    this.#lists.clear();
    this.#others = [];
  }
}

/** A block without the blocks inside it. */
interface BlockParts {
  /** In place of each list of blocks is one block without a type, which names the list. */
  props: Record<string, unknown>;
  /** The lists by their paths in the props, joined with dots. */
  lists: Map<string, Block[]>;
}

/** Where core widgets have lists of blocks; `*` is any index. Blocks of other widgets are mounted again with them. */
const listPaths: Partial<Record<string, readonly string[]>> = {
  Accordion: ['panels', '*', 'body'],
  Callout: ['body'],
  Columns: ['columns', '*'],
  Tabs: ['tabs', '*', 'body'],
};

function partsOf(type: string, props: Record<string, unknown>): BlockParts {
  const lists: BlockParts['lists'] = new Map();
  const path = listPaths[type];
  if (path === undefined) return { props, lists };
  return { props: record(withoutLists(props, path, [], lists)), lists };
}

function withoutLists(
  value: unknown,
  [name, ...rest]: readonly string[],
  at: readonly string[],
  lists: BlockParts['lists'],
): unknown {
  if (name === undefined) {
    const path = at.join('.');
    lists.set(path, readBlocks(value));
    return [{ type: '', props: { path } }];
  }
  if (name === '*') {
    return Array.isArray(value)
      ? value.map((entry, index) => withoutLists(entry, rest, [...at, String(index)], lists))
      : [];
  }
  const members = record(value);
  return { ...members, [name]: withoutLists(members[name], rest, [...at, name], lists) };
}
