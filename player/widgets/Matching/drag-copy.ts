import { makeDraggable } from '../../question/drag.ts';

export interface MatchMoves {
  canMove(): boolean;
  /** Ends the drag of an answer at a point of the window. */
  drop(optionId: string, x: number, y: number): void;
}

/**
 * Makes an answer draggable: a copy of it follows the pointer.
 *
 * @param optionId returns the dragged answer; undefined for an empty place
 */
export function dragCopy(handle: HTMLElement, moves: MatchMoves, optionId: () => string | undefined): void {
  let copy: HTMLElement | undefined;
  let dragged: string | undefined;
  let offset = { x: 0, y: 0 };
  makeDraggable(handle, {
    canDrag: () => moves.canMove() && optionId() !== undefined,
    start({ clientX, clientY }) {
      dragged = optionId();
      const { left, top, width } = handle.getBoundingClientRect();
      offset = { x: clientX - left, y: clientY - top };
      copy = handle.cloneNode(true) as HTMLElement;
      copy.classList.add('lectern-is-dragged');
      copy.setAttribute('aria-hidden', 'true');
      copy.style.inlineSize = `${width}px`;
      handle.after(copy);
      handle.classList.add('lectern-is-lifted');
    },
    move({ clientX, clientY }) {
      if (copy) copy.style.transform = `translate(${clientX - offset.x}px, ${clientY - offset.y}px)`;
    },
    end({ clientX, clientY }, isDropped) {
      copy?.remove();
      handle.classList.remove('lectern-is-lifted');
      if (isDropped && dragged !== undefined) moves.drop(dragged, clientX, clientY);
    },
  });
}
