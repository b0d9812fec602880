import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../kit/button.tsx';
import { ActionDialog } from '../../kit/dialog.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Notice } from '../../kit/parts.tsx';
import { toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { useLazy } from '../../shell/lazy.ts';
import { t } from '../../shell/text.ts';
import type { EditorStore } from '../model/editor-store.ts';
import { removeCopies } from './local-copies.ts';
import type { SaveState, Saver } from './saver.ts';

const icons = { saved: 'check', saving: 'history' } as const;

/** Says in a word whether everything is saved. */
export function SaveStatus({ saver }: { saver: Saver }): JSX.Element {
  const { kind } = saver.state.value;
  const isFine = kind === 'saved' || kind === 'saving';
  return (
    <p class={`save-status${isFine ? '' : ' is-bad'}`} role="status">
      <Icon name={isFine ? icons[kind] : 'warning'} />
      <span>{t(isFine ? `editor.save.${kind}` : 'editor.save.unsaved')}</span>
    </p>
  );
}

/** What keeps the lesson from being saved, and what to do. */
export function SaveNotice({ store, saver }: { store: EditorStore; saver: Saver }): JSX.Element | null {
  const state = saver.state.value;
  const [isComparing, setComparing] = useState(false);
  if (state.kind === 'saved' || state.kind === 'saving') return null;
  return (
    <div class="editor-notice">
      <Notice tone="bad" title={titleOf(state)}>
        <p>{textOf(state)}</p>
        <div class="toolbar">
          {state.kind === 'conflict' && (
            <Button kind="primary" onPress={() => setComparing(true)}>
              {t('editor.save.compare')}
            </Button>
          )}
          {state.kind === 'ended' && (
            <Button kind="primary" onPress={() => location.reload()}>
              {t('editor.save.continue')}
            </Button>
          )}
          {(state.kind === 'offline' ||
            state.kind === 'loggedOut' ||
            (state.kind === 'failed' && !state.isFinal)) && (
            <Button kind="primary" onPress={() => saver.flush()}>
              {t(state.kind === 'loggedOut' ? 'log_in.submit' : 'error.retry')}
            </Button>
          )}
          {state.kind !== 'conflict' && (
            <Button icon="download" onPress={() => download(store)}>
              {t('editor.save.download')}
            </Button>
          )}
        </div>
      </Notice>
      {isComparing && <Conflicts store={store} saver={saver} onClose={() => setComparing(false)} />}
    </div>
  );
}

function titleOf(state: Exclude<SaveState, { kind: 'saved' | 'saving' }>): string {
  return state.kind === 'failed' ? t('editor.save.failed') : t(`editor.save.${state.kind}`);
}

function textOf(state: Exclude<SaveState, { kind: 'saved' | 'saving' }>): string {
  if (state.kind === 'failed') return `${state.message} ${t('editor.save.kept')}`;
  return t(state.kind === 'conflict' ? 'editor.save.conflict_text' : 'editor.save.kept');
}

/** Downloads the lesson as a package. */
export async function download(store: EditorStore): Promise<void> {
  const { downloadLesson } = await import('./download.ts');
  const missing = await downloadLesson(store);
  if (missing.length > 0) toast(t('editor.save.download_lacks', { steps: missing.join(', ') }), 'failed');
}

type ConflictsProps = { store: EditorStore; saver: Saver; onClose: () => void };

function Conflicts(props: ConflictsProps): JSX.Element | null {
  const Loaded = useLazy<ConflictsProps>(() =>
    import('./conflict-dialog.tsx').then(({ ConflictDialog }) => ConflictDialog),
  );
  return Loaded && <Loaded {...props} />;
}

/** Ends the draft: the lesson is again as its newest version. */
export function DiscardDialog({
  store: { lessonId },
  onClose,
  onDiscarded,
}: {
  store: EditorStore;
  onClose: () => void;
  onDiscarded: () => void;
}): JSX.Element {
  return (
    <ActionDialog
      title={t('editor.save.discard')}
      action={t('editor.save.discard')}
      isDanger
      onClose={onClose}
      onAction={async () => {
        await request('DELETE /api/lessons/{lessonId}/draft', { params: { lessonId } });
        await removeCopies(lessonId);
        onDiscarded();
      }}
    >
      <p>{t('editor.save.discard_text')}</p>
    </ActionDialog>
  );
}
