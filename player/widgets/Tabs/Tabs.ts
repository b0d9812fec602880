import { listOf } from '../../../shared/lessons/json-values.ts';
import { defineWidget } from '../../define.ts';
import { element, uniqueId } from '../../dom.ts';
import { textWithFormulas } from '../../html.ts';
import { blocks, record, text } from '../../props.ts';

interface Tab {
  button: HTMLButtonElement;
  panel: HTMLElement;
}

/** Blocks behind tabs, one panel at a time. The arrow keys, Home and End move between the tabs. */
export default defineWidget(
  'Tabs',
  (root, { props, context }) => {
    const list = element('div', { class: 'lectern-tab-list', role: 'tablist' });
    const tabs: Tab[] = [];
    for (const entry of listOf(props.tabs).map(record)) {
      const title = text(entry.title);
      if (!title) continue;
      const [tabId, panelId] = [uniqueId(), uniqueId()];
      const attributes = {
        class: 'lectern-tab',
        type: 'button',
        role: 'tab',
        id: tabId,
        'aria-controls': panelId,
      };
      const button = element('button', attributes, textWithFormulas(title, context));
      const panel = element('div', {
        ...{ class: 'lectern-tab-panel lectern-stack', role: 'tabpanel', tabindex: '0' },
        ...{ id: panelId, 'aria-labelledby': tabId, 'data-title': title },
      });
      const tab = { button, panel };
      tabs.push(tab);
      button.addEventListener('click', () => show(tab));
      button.addEventListener('keydown', (event) => moveBy(event, tabs.indexOf(tab)));
      context.renderBlocks(panel, blocks(entry.body));
    }
    const [first] = tabs;
    if (first === undefined) return;

    function show(shown: Tab): void {
      for (const { button, panel } of tabs) {
        const isShown = panel === shown.panel;
        button.setAttribute('aria-selected', String(isShown));
        button.tabIndex = isShown ? 0 : -1;
        panel.hidden = !isShown;
      }
    }

    function moveBy(event: KeyboardEvent, index: number): void {
      const isMirrored = getComputedStyle(root).direction === 'rtl';
      const steps: Record<string, number> = {
        ArrowRight: isMirrored ? -1 : 1,
        ArrowLeft: isMirrored ? 1 : -1,
        Home: -index,
        End: tabs.length - 1 - index,
      };
      const step = steps[event.key];
      const next = step === undefined ? undefined : tabs.at((index + step) % tabs.length);
      if (next === undefined) return;
      event.preventDefault();
      show(next);
      next.button.focus();
    }

    list.append(...tabs.map(({ button }) => button));
    root.append(list, ...tabs.map(({ panel }) => panel));
    show(first);
  },
  { plainProps: ['tabs'] },
);
