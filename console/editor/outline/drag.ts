import { useEffect, useRef } from 'preact/hooks';
import { moveBlockBeside, moveBlockInto, moveSectionTo, moveStepTo } from '../model/commands.ts';
import { placeOfStep, sectionById } from '../model/edit-outline.ts';
import type { EditorStore } from '../model/editor-store.ts';
import type { Row } from './rows.ts';

type Side = 'before' | 'after' | 'in';

/** A press becomes a drag after so many pixels. */
const threshold = 5;

/**
 * Moves rows of the outline with a mouse or a pen. A finger scrolls; for it, the menu of a row has moves.
 *
 * @returns what a press on the tree calls
 */
export function useDrag(store: EditorStore, rows: readonly Row[]): (event: PointerEvent) => void {
  const latest = useRef(rows);
  latest.current = rows;
  const end = useRef(() => {});
  useEffect(() => () => end.current(), []);
  return (start) => {
    const element = rowElement(start.target);
    const dragged = rowOf(latest.current, element);
    if (element === null || dragged === undefined || dragged.kind === 'slot') return;
    if (start.button !== 0 || start.pointerType === 'touch' || isControl(start.target)) return;
    let target: { element: HTMLElement; row: Row; side: Side } | undefined;
    let isDragging = false;
    const onMove = ({ clientX, clientY }: PointerEvent) => {
      isDragging ||= Math.hypot(clientX - start.clientX, clientY - start.clientY) > threshold;
      if (!isDragging) return;
      element.classList.add('is-dragged');
      mark(target, false);
      const over = rowElement(document.elementFromPoint(clientX, clientY));
      const row = rowOf(latest.current, over);
      const side = over && row && sideOf(dragged, row, over, clientY);
      target = over && row && side ? { element: over, row, side } : undefined;
      mark(target, true);
    };
    const onUp = () => {
      end.current();
      if (target !== undefined) drop(store, dragged, target.row, target.side);
    };
    const onKey = ({ key }: KeyboardEvent) => key === 'Escape' && end.current();
    end.current = () => {
      removeEventListener('pointermove', onMove);
      removeEventListener('pointerup', onUp);
      removeEventListener('keydown', onKey);
      element.classList.remove('is-dragged');
      mark(target, false);
      end.current = () => {};
    };
    addEventListener('pointermove', onMove);
    addEventListener('pointerup', onUp);
    addEventListener('keydown', onKey);
  };
}

function rowElement(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>('[role=treeitem]') : null;
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('button, input, [role=menu]') !== null;
}

function rowOf(rows: readonly Row[], element: HTMLElement | null): Row | undefined {
  return element === null ? undefined : rows.find(({ key }) => key === element.dataset.key);
}

function mark(target: { element: HTMLElement; side: Side } | undefined, isOn: boolean): void {
  target?.element.classList.toggle(`is-drop-${target.side}`, isOn);
}

/** Where a row may be dropped at another one; undefined for nowhere. */
function sideOf(dragged: Row, over: Row, element: HTMLElement, y: number): Side | undefined {
  for (let row: Row | null = over; row !== null; row = row.parent)
    if (row.key === dragged.key) return undefined;
  const { top, height } = element.getBoundingClientRect();
  const half = y < top + height / 2 ? 'before' : 'after';
  if (dragged.kind === over.kind)
    return dragged.stepId === over.stepId || dragged.kind !== 'block' ? half : undefined;
  if (dragged.kind === 'step' && over.kind === 'section') return 'in';
  if (dragged.kind === 'block' && over.stepId === dragged.stepId) return 'in';
  return undefined;
}

function drop(store: EditorStore, { selection, node, stepId }: Row, over: Row, side: Side): void {
  store.select(selection);
  const skeleton = store.skeleton.peek();
  const after = side === 'after' ? 1 : 0;
  if (selection.kind === 'section' && over.selection.kind === 'section') {
    const others = skeleton.sections.filter(({ id }) => id !== selection.id);
    const { id: overId } = over.selection;
    moveSectionTo(store, selection.id, others.findIndex(({ id }) => id === overId) + after);
  } else if (selection.kind === 'step' && over.selection.kind === 'section') {
    const sectionId = over.selection.id;
    const { steps = [] } = sectionById(skeleton, sectionId) ?? {};
    const index = steps.filter(({ id }) => id !== selection.id).length;
    moveStepTo(store, selection.id, { sectionId, index });
  } else if (selection.kind === 'step' && over.selection.kind === 'step') {
    const place = placeOfStep(skeleton, over.selection.id);
    const from = placeOfStep(skeleton, selection.id);
    if (place === undefined || from === undefined) return;
    const shift = from.sectionId === place.sectionId && from.index < place.index ? -1 : 0;
    moveStepTo(store, selection.id, { ...place, index: place.index + after + shift });
  } else if (node !== null && stepId !== null) {
    if (over.node !== null) moveBlockBeside(store, stepId, node, { id: over.node.block.props.id, after });
    else moveBlockInto(store, stepId, node, over.slot);
  }
}
