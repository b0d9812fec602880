import 'messages:page/editor';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../kit/icon.tsx';
import { ErrorState, Progress } from '../kit/parts.tsx';
import { ApiError } from '../shell/api.ts';
import type { PageProps } from '../shell/page.tsx';
import { Link } from '../shell/router.tsx';
import { t } from '../shell/text.ts';
import { EditorStore } from './model/editor-store.ts';
import { openDraft } from './model/opening.ts';
import { Outline } from './outline/outline.tsx';
import { StepPreview } from './preview/step-preview.tsx';
import { SelectedForm } from './selected-form.tsx';

/** Makes and changes a lesson: its draft, which opens with the newest version. */
export default function EditorPage({ params: { lessonId = '' } }: { params: PageProps }): JSX.Element {
  const [store, setStore] = useState<EditorStore>();
  const [error, setError] = useState<ApiError>();
  const open = async () => {
    setError(undefined);
    try {
      setStore(new EditorStore(lessonId, await openDraft(lessonId)));
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure);
    }
  };
  useEffect(() => void open(), []);
  if (error !== undefined) return <ErrorState error={error} onRetry={open} />;
  if (store === undefined)
    return (
      <div class="page">
        <Progress value={undefined} label={t('editor.opening')} />
      </div>
    );
  return <Editor store={store} />;
}

const panes = ['outline', 'preview', 'form'] as const;
type Pane = (typeof panes)[number];

/** @param props.store the opened lesson */
function Editor({ store }: { store: EditorStore }): JSX.Element {
  const [pane, setPane] = useState<Pane>('outline');
  const { title } = store.skeleton.value.lesson;
  useEffect(() => {
    document.title = `${title} · Lectern`;
  }, [title]);
  return (
    <div class={`editor shows-${pane}`}>
      <header class="editor-head">
        <Link to={`/lessons/${encodeURIComponent(store.lessonId)}`} class="icon-button">
          <Icon name="back" />
          <span class="hidden-text">{t('editor.back')}</span>
        </Link>
        <h1>{title}</h1>
      </header>
      <section class="editor-outline" aria-label={t('editor.outline.title')}>
        <Outline store={store} onOpenForm={() => setPane('form')} />
      </section>
      <section class="editor-preview" aria-label={t('editor.preview.title')}>
        <StepPreview store={store} />
      </section>
      <section class="editor-form" aria-label={t('editor.form.title')}>
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
    </div>
  );
}
