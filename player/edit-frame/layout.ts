import type { FromEditFrame, Rectangle } from '../../shared/lessons/preview-messages.ts';

const titles = 'summary, [role="tab"]';

/** Measures where the blocks of a step are. */
export function layoutOf(body: HTMLElement, revision: number): Extract<FromEditFrame, { type: 'layout' }> {
  const blocks = new Map<string, Rectangle>();
  for (const slot of body.querySelectorAll<HTMLElement>('[data-lectern-block]')) {
    const rectangle = rectangleOf(slot);
    const { lecternBlock: id = '' } = slot.dataset;
    if (rectangle && !blocks.has(id)) blocks.set(id, rectangle);
  }
  const empty = [...body.querySelectorAll<HTMLElement>('[data-lectern-list]:empty')];
  const emptyLists = empty.flatMap((list) => {
    const rectangle = rectangleOf(list);
    const blockId = list.closest<HTMLElement>('[data-lectern-block]')?.dataset.lecternBlock;
    const path = list.dataset.lecternList?.split('.');
    return rectangle && blockId !== undefined && path ? [{ blockId, path, rectangle }] : [];
  });
  return { type: 'layout', revision, width: innerWidth, blocks, emptyLists };
}

/** Returns where an element is; undefined inside a closed panel or tab. */
function rectangleOf(shown: HTMLElement): Rectangle | undefined {
  const { left, top, width, height } = shown.getBoundingClientRect();
  if (width === 0 || shown.parentElement?.closest('details:not([open])')) return undefined;
  return [left + scrollX, top + scrollY, width, height];
}

/** Opens the panels and tabs around a block. */
export function reveal(body: HTMLElement, blockId: string): void {
  const slots = [...body.querySelectorAll<HTMLElement>('[data-lectern-block]')];
  let around = slots.find(({ dataset }) => dataset.lecternBlock === blockId)?.parentElement;
  for (; around && around !== body; around = around.parentElement) {
    if (around instanceof HTMLDetailsElement) around.open = true;
    if (around.hidden && around.id) {
      body.querySelector<HTMLElement>(`[role="tab"][aria-controls="${CSS.escape(around.id)}"]`)?.click();
    }
  }
}

/** Opens or closes the panel, or opens the tab, whose title is at a point. */
export function openAt(body: HTMLElement, { x, y }: { x: number; y: number }): void {
  const title = [...body.querySelectorAll<HTMLElement>(titles)].find((candidate) => {
    const { left, right, top, bottom } = candidate.getBoundingClientRect();
    return left <= x && x <= right && top <= y && y <= bottom;
  });
  title?.click();
}
