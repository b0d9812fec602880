import type { CSSProperties, JSX, TargetedMouseEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Rectangle } from '../../../shared/lessons/preview-messages.ts';
import { Icon } from '../../kit/icon.tsx';
import { Menu } from '../../kit/menu.tsx';
import type { MenuItem } from '../../kit/menu.tsx';
import { t } from '../../shell/text.ts';
import type { BlockNode, StepTree } from '../model/blocks.ts';
import { topList } from '../model/blocks.ts';
import { placeOf } from '../model/edit-blocks.ts';
import type { BlockPlace } from '../model/edit-blocks.ts';
import { widgetName } from '../outline/rows.ts';
import { blockAt, emptySlots } from './places.ts';
import type { Layout } from './places.ts';

interface OverlayProps {
  tree: StepTree;
  layout: Layout;
  /** Whether the rectangles are those of blocks as they were before. */
  isStale: boolean;
  selectedId: string | null;
  onSelect: (blockId: string | null) => void;
  /** Called with the point of a press, in pixels of the frame. */
  onPoint: (x: number, y: number) => void;
  insertItems: (place: BlockPlace) => readonly (MenuItem | null)[];
}

/** Covers the preview: it marks blocks, and takes the presses, so that nothing in the lesson can be operated. */
export function Overlay(props: OverlayProps): JSX.Element {
  const { tree, layout, isStale, selectedId, onSelect, onPoint, insertItems } = props;
  const [hoveredId, setHovered] = useState<string | null>(null);
  const selected = selectedId === null ? undefined : tree.byId.get(selectedId);
  const selectedAt = selectedId === null ? undefined : layout.blocks.get(selectedId);
  const hoveredAt = hoveredId === selectedId ? undefined : layout.blocks.get(hoveredId ?? '');
  const pointOf = ({ clientX, clientY, currentTarget }: TargetedMouseEvent<HTMLElement>) => {
    const { left, top } = currentTarget.getBoundingClientRect();
    return [clientX - left, clientY - top] as const;
  };
  return (
    <div
      class={`preview-overlay${isStale ? ' is-stale' : ''}`}
      onPointerMove={(event) => setHovered(blockAt(tree, layout, ...pointOf(event))?.block.props.id ?? null)}
      onPointerLeave={() => setHovered(null)}
      onClick={(event) => {
        if (event.target !== event.currentTarget || isStale) return;
        const point = pointOf(event);
        onSelect(blockAt(tree, layout, ...point)?.block.props.id ?? null);
        onPoint(...point);
      }}
    >
      {hoveredAt && <div class="preview-hover" style={boxOf(hoveredAt)} />}
      {emptySlots(tree, layout).map(({ slot, at }) => (
        <div key={slot.path.join('.')} class="preview-empty" style={boxOf(at)}>
          <InsertMenu label={t('editor.preview.add')} items={insertItems({ list: slot.path, index: 0 })} />
        </div>
      ))}
      {selected && selectedAt && <Selected node={selected} at={selectedAt} insertItems={insertItems} />}
      {tree.nodes.length === 0 && (
        <div class="preview-start">
          <p>{t('editor.preview.empty')}</p>
          <InsertMenu label={t('editor.preview.add')} items={insertItems({ list: topList, index: 0 })} />
        </div>
      )}
    </div>
  );
}

/** The selected block: its frame and name, and the buttons that add blocks before and after it. */
function Selected({
  node,
  at,
  insertItems,
}: {
  node: BlockNode;
  at: Rectangle;
  insertItems: OverlayProps['insertItems'];
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const { type, props } = node.block;
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [props.id]);
  const { list, index } = placeOf(node);
  return (
    <div ref={box} class={`preview-selected${at[1] < 32 ? ' is-at-top' : ''}`} style={boxOf(at)}>
      <span class="preview-name" aria-hidden="true">
        {widgetName(type)}
      </span>
      <span class="preview-add is-before">
        <InsertMenu
          key={`${props.id} before`}
          label={t('editor.preview.add_before')}
          items={insertItems({ list, index })}
        />
      </span>
      <span class="preview-add is-after">
        <InsertMenu
          key={`${props.id} after`}
          label={t('editor.preview.add_after')}
          items={insertItems({ list, index: index + 1 })}
        />
      </span>
    </div>
  );
}

function InsertMenu({ label, items }: { label: string; items: readonly (MenuItem | null)[] }): JSX.Element {
  return (
    <Menu label={label} buttonClass="preview-plus" items={items}>
      <Icon name="plus" />
    </Menu>
  );
}

/** Rectangles come from the frame, which is never mirrored. */
function boxOf([left, top, width, height]: Rectangle): CSSProperties {
  return { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` };
}
