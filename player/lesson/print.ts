/** Opens the closed panels of a step while the page is printed. Returns a function that ends this. */
export function openWhilePrinting(step: HTMLElement): () => void {
  let opened: { panel: HTMLDetailsElement; group: string | null }[] = [];

  function open(): void {
    opened = [...step.querySelectorAll<HTMLDetailsElement>('details:not([open])')].map((panel) => {
      const group = panel.getAttribute('name');
      // Otherwise it would close the others of its group.
      panel.removeAttribute('name');
      panel.open = true;
      return { panel, group };
    });
  }

  function close(): void {
    for (const { panel, group } of opened.splice(0)) {
      panel.open = false;
      if (group !== null) panel.setAttribute('name', group);
    }
  }

  addEventListener('beforeprint', open);
  addEventListener('afterprint', close);
  return () => {
    removeEventListener('beforeprint', open);
    removeEventListener('afterprint', close);
  };
}
