import type { JSX } from 'preact';
import { namedBlock } from '../../../shared/lessons/block-names.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { Icon } from '../../kit/icon.tsx';
import { t } from '../../shell/text.ts';
import type { Finding } from '../model/blocks.ts';
import { stepById } from '../model/edit-outline.ts';
import type { EditorStore } from '../model/editor-store.ts';
import { stepOf } from '../model/lesson-document.ts';
import { widgetName } from '../outline/rows.ts';

/** What the checks found, each with its place, which opens it. */
export function Findings({
  store,
  findings,
  onOpen,
}: {
  store: EditorStore;
  findings: readonly Finding[];
  onOpen: () => void;
}): JSX.Element {
  return (
    <ul class="findings">
      {findings.map((finding, index) => (
        <li key={index} class={`is-${finding.severity}`}>
          <Icon name="warning" />
          <div>
            <p dir="auto">{finding.text}</p>
            {finding.stepId !== undefined && (
              <button
                type="button"
                class="place"
                onClick={() => {
                  open(store, finding);
                  onOpen();
                }}
              >
                <span>{placeName(store, finding)}</span>
              </button>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

function open(store: EditorStore, { stepId, blockId }: Finding): void {
  if (stepId === undefined) return;
  store.select(blockId === undefined ? { kind: 'step', id: stepId } : { kind: 'block', stepId, id: blockId });
}

function placeName(store: EditorStore, { stepId = '', blockId }: Finding): string {
  const title = stepById(store.skeleton.value, stepId)?.title || t('editor.outline.untitled');
  const content = stepOf(store.document.value, stepId);
  const node = blockId === undefined ? undefined : content && store.blocksOf(content).byId.get(blockId);
  if (node === undefined) return title;
  const { text } = namedBlock(node.block as Parameters<typeof namedBlock>[0]);
  return `${title} › ${widgetName(node.block.type)}${text && ` “${text}”`}`;
}

/** What the checks found so far. */
export function ChecksDialog({ store, onClose }: { store: EditorStore; onClose: () => void }): JSX.Element {
  return (
    <Dialog title={t('editor.check.title')} onClose={onClose}>
      <Findings store={store} findings={store.findings.value} onOpen={onClose} />
    </Dialog>
  );
}
