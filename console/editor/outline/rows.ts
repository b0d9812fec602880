import { namedBlock } from '../../../shared/lessons/block-names.ts';
import { coreWidgetFields } from '../../../shared/lessons/core-widget-fields.ts';
import type { CoreWidgetType } from '../../../shared/lessons/core-widgets.ts';
import { t } from '../../shell/text.ts';
import type { BlockNode, Slot, StepTree } from '../model/blocks.ts';
import type { Selection, Skeleton } from '../model/lesson-document.ts';

/** A line of the outline. */
export interface Row {
  readonly key: string;
  readonly kind: 'section' | 'step' | 'block' | 'slot';
  readonly selection: Selection;
  readonly parent: Row | null;
  readonly level: number;
  /** Its place among its siblings, from 1. */
  readonly position: number;
  readonly siblings: number;
  /** Null for a row that nothing is below. */
  readonly isExpanded: boolean | null;
  readonly label: string;
  /** The kind of block, beside its text. */
  readonly detail: string | null;
  readonly stepId: string | null;
  readonly node: BlockNode | null;
  readonly slot: Slot | null;
}

/** Which rows are open. */
interface Expansion {
  readonly collapsedSections: ReadonlySet<string>;
  /** The step whose blocks are shown. */
  readonly stepId: string | null;
  /** The blocks of that step; undefined while it is loaded. */
  readonly tree: StepTree | undefined;
}

/** Returns a string that names a selection. */
export function keyOf(selection: Selection): string {
  return JSON.stringify(
    selection.kind === 'lesson'
      ? ['lesson']
      : 'stepId' in selection
        ? [selection.kind, selection.stepId, selection.id]
        : [selection.kind, selection.id],
  );
}

/** Returns the name of a widget. */
export function widgetName(type: string): string {
  return isCore(type) ? t(`editor.widget.${type}`) : type;
}

function isCore(type: string): type is CoreWidgetType {
  return Object.hasOwn(coreWidgetFields, type);
}

/** Returns the rows that are shown, from top to bottom. */
export function rowsOf(skeleton: Skeleton, expansion: Expansion): Row[] {
  const rows: Row[] = [];
  const add = (
    parent: Row | null,
    place: { position: number; siblings: number },
    own: Pick<Row, 'kind' | 'selection' | 'isExpanded' | 'label'> &
      Partial<Pick<Row, 'detail' | 'stepId' | 'node' | 'slot'>>,
  ): Row => {
    const row: Row = {
      ...{ detail: null, stepId: null, node: null, slot: null, ...own, ...place, parent },
      key: keyOf(own.selection),
      level: (parent?.level ?? 0) + 1,
    };
    rows.push(row);
    return row;
  };
  const addNodes = (parent: Row, stepId: string, nodes: readonly BlockNode[]) => {
    for (const [index, node] of nodes.entries()) {
      const { type, props } = node.block;
      const { text } = namedBlock(node.block as Parameters<typeof namedBlock>[0]);
      const place = { position: index + 1, siblings: nodes.length };
      const row = add(parent, place, {
        kind: 'block',
        selection: { kind: 'block', stepId, id: props.id },
        isExpanded: node.slots.some((slot) => node.slots.length > 1 || slot.nodes.length > 0) ? true : null,
        ...{ label: text || widgetName(type), detail: text ? widgetName(type) : null, stepId, node },
      });
      addSlots(row, stepId, node);
    }
  };
  const addSlots = (parent: Row, stepId: string, { slots, block }: BlockNode) => {
    const [only] = slots;
    if (only !== undefined && slots.length === 1) {
      addNodes(parent, stepId, only.nodes);
      return;
    }
    for (const [index, slot] of slots.entries()) {
      const id = JSON.stringify(slot.path);
      const row = add(
        parent,
        { position: index + 1, siblings: slots.length },
        {
          ...{ kind: 'slot', selection: { kind: 'slot', stepId, id }, stepId, slot },
          isExpanded: slot.nodes.length > 0 ? true : null,
          label: slot.title || slotName(block.type, index + 1),
        },
      );
      addNodes(row, stepId, slot.nodes);
    }
  };
  for (const [sectionIndex, section] of skeleton.sections.entries()) {
    const isOpen = !expansion.collapsedSections.has(section.id);
    const row = add(
      null,
      { position: sectionIndex + 1, siblings: skeleton.sections.length },
      {
        ...{ kind: 'section', selection: { kind: 'section', id: section.id }, label: section.title },
        isExpanded: section.steps.length > 0 ? isOpen : null,
      },
    );
    if (!isOpen) continue;
    for (const [index, step] of section.steps.entries()) {
      const isShown = step.id === expansion.stepId;
      const stepRow = add(
        row,
        { position: index + 1, siblings: section.steps.length },
        {
          ...{ kind: 'step', selection: { kind: 'step', id: step.id }, label: step.title, stepId: step.id },
          isExpanded: isShown && expansion.tree?.nodes.length === 0 ? null : isShown,
        },
      );
      if (isShown && expansion.tree !== undefined) addNodes(stepRow, step.id, expansion.tree.nodes);
    }
  }
  return rows;
}

function slotName(type: string, number: number): string {
  if (type === 'Columns') return t('editor.outline.column', { number });
  return t('editor.outline.part', { number });
}
