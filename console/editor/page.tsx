import 'messages:page/editor';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Button, IconButton } from '../kit/button.tsx';
import { Icon } from '../kit/icon.tsx';
import { Menu } from '../kit/menu.tsx';
import { Badge, ErrorState, Progress } from '../kit/parts.tsx';
import { toast } from '../kit/toast.tsx';
import { ApiError } from '../shell/api.ts';
import { useLazy } from '../shell/lazy.ts';
import type { PageProps } from '../shell/page.tsx';
import { Link } from '../shell/router.tsx';
import { t } from '../shell/text.ts';
import type { BlockPlace } from './model/edit-blocks.ts';
import { EditorStore } from './model/editor-store.ts';
import { openDraft } from './model/opening.ts';
import { InsertMenu, placeForNew } from './outline/insert-menu.tsx';
import { Outline } from './outline/outline.tsx';
import { StepPreview } from './preview/step-preview.tsx';
import { ChecksDialog } from './publish/findings.tsx';
import type { PublishDialog } from './publish/publish-dialog.tsx';
import { restoreCopies } from './save/restore.ts';
import { Saver } from './save/saver.ts';
import { DiscardDialog, SaveNotice, SaveStatus, download } from './save/status.tsx';
import { SelectedForm } from './selected-form.tsx';

/** Makes and changes a lesson: its draft, which opens with the newest version. */
export default function EditorPage({ params: { lessonId = '' } }: { params: PageProps }): JSX.Element {
  const [opened, setOpened] = useState<{ store: EditorStore; saver: Saver }>();
  const [error, setError] = useState<ApiError>();
  const open = async () => {
    setError(undefined);
    setOpened(undefined);
    try {
      const store = new EditorStore(lessonId, await openDraft(lessonId));
      const saver = new Saver(store);
      if ((await restoreCopies(store, saver)) > 0) toast(t('editor.save.restored'));
      setOpened({ store, saver });
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure);
    }
  };
  useEffect(() => void open(), []);
  if (error !== undefined) return <ErrorState error={error} onRetry={open} />;
  if (opened === undefined)
    return (
      <div class="page">
        <Progress value={undefined} label={t('editor.opening')} />
      </div>
    );
  return <Editor key={opened.store.draft.id} {...opened} onReopen={() => void open()} />;
}

const panes = ['outline', 'preview', 'form'] as const;
type Pane = (typeof panes)[number];

interface Opened {
  store: EditorStore;
  saver: Saver;
}

/** @param props.onReopen begins with the draft that the server has then */
function Editor({ store, saver, onReopen }: Opened & { onReopen: () => void }): JSX.Element {
  const [pane, setPane] = useState<Pane>('outline');
  const [target, setTarget] = useState<{ stepId: string; place: BlockPlace } | null>(null);
  const { title } = store.skeleton.value.lesson;
  useEffect(() => {
    document.title = `${title} · Lectern`;
  }, [title]);
  useEffect(() => saver.start(), [saver]);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => onShortcut(event, store);
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [store]);
  const openForm = () => {
    setPane('form');
    // After the form is there.
    setTimeout(() => {
      const form = document.querySelector<HTMLElement>('.editor-form');
      // A rich text is loaded later: then the form itself gets the focus.
      (form?.querySelector<HTMLElement>(firstField) ?? form)?.focus();
    });
  };
  return (
    <div class={`editor shows-${pane}`}>
      <Head store={store} saver={saver} onReopen={onReopen} />
      <SaveNotice store={store} saver={saver} />
      <section class="editor-outline" aria-label={t('editor.outline.title')}>
        <Outline store={store} onOpenForm={openForm} onInsert={() => setTarget(placeForNew(store))} />
      </section>
      <section class="editor-preview">
        <StepPreview store={store} />
      </section>
      <section
        class="editor-form"
        tabIndex={-1}
        aria-label={t('editor.form.title')}
        onKeyDown={(event) => {
          if (event.key !== 'Escape' || event.defaultPrevented) return;
          setPane('outline');
          setTimeout(() => document.querySelector<HTMLElement>('[role=treeitem][tabindex="0"]')?.focus());
        }}
      >
        <SelectedForm store={store} />
      </section>
      <nav class="editor-panes" aria-label={t('editor.panes')}>
        {panes.map((name) => (
          <button
            key={name}
            type="button"
            aria-current={pane === name ? 'true' : undefined}
            onClick={() => setPane(name)}
          >
            {t(`editor.${name}.title`)}
          </button>
        ))}
      </nav>
      {target !== null && (
        <InsertMenu store={store} target={target} onClose={() => setTarget(null)} onInserted={openForm} />
      )}
    </div>
  );
}

const firstField =
  '.editor-form :is(input:not([type=hidden]), textarea, select, [contenteditable=true], button)';

/** Undo and redo work everywhere, except in dialogs and where a field has undone something itself. */
function onShortcut(event: KeyboardEvent, store: EditorStore): void {
  const { target, key, ctrlKey, metaKey, shiftKey, altKey, defaultPrevented } = event;
  if (defaultPrevented || altKey || !(ctrlKey || metaKey)) return;
  if (target instanceof Element && target.closest('dialog') !== null) return;
  const isUndo = key.toLowerCase() === 'z' && !shiftKey;
  const isRedo = (key.toLowerCase() === 'z' && shiftKey) || key.toLowerCase() === 'y';
  if (isUndo) store.undo();
  else if (isRedo) store.redo();
  else return;
  event.preventDefault();
}

function Head({ store, saver, onReopen }: Opened & { onReopen: () => void }): JSX.Element {
  const [dialog, setDialog] = useState<'publish' | 'discard' | 'checks'>();
  const { done, undone, selection } = store.document.value;
  const { title } = store.skeleton.value.lesson;
  const close = () => setDialog(undefined);
  const count = store.findings.value.length;
  return (
    <header class="editor-head">
      <Link to={`/lessons/${encodeURIComponent(store.lessonId)}`} class="icon-button">
        <Icon name="back" />
        <span class="hidden-text">{t('editor.back')}</span>
      </Link>
      <h1>
        <button
          type="button"
          aria-pressed={selection.kind === 'lesson'}
          title={t('editor.lesson_settings')}
          onClick={() => store.select({ kind: 'lesson' })}
        >
          {title}
        </button>
      </h1>
      <SaveStatus saver={saver} />
      <IconButton
        label={t('editor.undo')}
        icon="undo"
        disabled={done.length === 0}
        onPress={() => store.undo()}
      />
      <IconButton
        label={t('editor.redo')}
        icon="redo"
        disabled={undone.length === 0}
        onPress={() => store.redo()}
      />
      {count > 0 && (
        <button type="button" class="button is-quiet is-small" onClick={() => setDialog('checks')}>
          <Badge tone="warn">
            <span class="checks-text">{t('editor.check.count', { count })}</span>
            <span class="checks-number" aria-hidden="true">
              {count}
            </span>
          </Badge>
        </button>
      )}
      <Menu
        label={t('more')}
        items={[
          { label: t('editor.save.download'), icon: 'download', onSelect: () => download(store) },
          {
            label: t('editor.save.discard'),
            icon: 'trash',
            isDanger: true,
            onSelect: () => setDialog('discard'),
          },
        ]}
      >
        <Icon name="more" />
      </Menu>
      <Button kind="primary" onPress={() => setDialog('publish')}>
        {t('lesson.publish')}
      </Button>
      {dialog === 'publish' && <Publish store={store} saver={saver} onClose={close} onPublished={onReopen} />}
      {dialog === 'checks' && <ChecksDialog store={store} onClose={close} />}
      {dialog === 'discard' && <DiscardDialog store={store} onClose={close} onDiscarded={onReopen} />}
    </header>
  );
}

type PublishProps = Parameters<typeof PublishDialog>[0];

function Publish(props: PublishProps): JSX.Element | null {
  const Loaded = useLazy<PublishProps>(() =>
    import('./publish/publish-dialog.tsx').then(({ PublishDialog: Dialog }) => Dialog),
  );
  return Loaded && <Loaded {...props} />;
}
