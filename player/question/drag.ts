/** Pixels that a pointer may move within a click. */
const clickTolerance = 6;

export interface DragHandlers {
  /** Checks whether a drag may start. */
  canDrag(): boolean;
  start(event: PointerEvent): void;
  move(event: PointerEvent): void;
  /** Ends a drag; `isDropped` is false if it was canceled. */
  end(event: PointerEvent, isDropped: boolean): void;
}

/**
 * Makes an element draggable by mouse, pen and finger. Clicks without movement stay clicks: whatever a
 * drag does must also work by click and by keyboard.
 */
export function makeDraggable(handle: HTMLElement, handlers: DragHandlers): void {
  handle.addEventListener('pointerdown', (down) => {
    if (down.button !== 0 || !down.isPrimary || !handlers.canDrag()) return;
    let isDragging = false;

    function move(event: PointerEvent): void {
      if (event.pointerId !== down.pointerId) return;
      if (!isDragging) {
        if (Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) <= clickTolerance) return;
        isDragging = true;
        handle.setPointerCapture(event.pointerId);
        handlers.start(event);
      }
      event.preventDefault();
      handlers.move(event);
    }

    function end(event: PointerEvent): void {
      if (event.pointerId !== down.pointerId) return;
      removeEventListener('pointermove', move);
      removeEventListener('pointerup', end);
      removeEventListener('pointercancel', end);
      if (!isDragging) return;
      handlers.end(event, event.type === 'pointerup');
      // The click that follows belongs to the drag.
      const swallow = (click: Event) => {
        click.preventDefault();
        click.stopPropagation();
      };
      addEventListener('click', swallow, { capture: true, once: true });
      setTimeout(() => removeEventListener('click', swallow, { capture: true }));
    }

    addEventListener('pointermove', move);
    addEventListener('pointerup', end);
    addEventListener('pointercancel', end);
  });
  // Browsers would drag the text or the picture inside instead.
  handle.addEventListener('dragstart', (event) => event.preventDefault());
}
