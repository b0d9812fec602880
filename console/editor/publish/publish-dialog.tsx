import 'messages:page/changes';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { LessonImport } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Badge, Notice, Progress } from '../../kit/parts.tsx';
import { messageOf } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { useData } from '../../shell/data.ts';
import { Link } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';
import { changeLines } from '../../pages/lesson-changes/data.ts';
import { Warnings } from '../../pages/lesson/actions.tsx';
import { followImport } from '../../pages/lessons/data.ts';
import type { EditorStore } from '../model/editor-store.ts';
import type { Saver } from '../save/saver.ts';
import { Findings } from './findings.tsx';

type Report = NonNullable<LessonImport['report']>;
type State =
  | { step: 'loading' | 'review' | 'publishing' }
  | { step: 'done'; report: Report }
  | { step: 'failed'; message: string };

/**
 * Publishes the draft: shows what the checks found and what was changed, makes the version, and says how it differs from
 * the last one.
 *
 * @param props.onPublished the draft has ended
 */
export function PublishDialog({
  store,
  saver,
  onClose,
  onPublished,
}: {
  store: EditorStore;
  saver: Saver;
  onClose: () => void;
  onPublished: () => void;
}): JSX.Element {
  const [state, setState] = useState<State>({ step: 'loading' });
  useEffect(() => {
    store.loadAll().then(
      () => setState({ step: 'review' }),
      (error: unknown) => setState({ step: 'failed', message: messageOf(error) }),
    );
  }, []);
  const findings = store.findings.value;
  const errors = findings.filter(({ severity }) => severity === 'error');
  const publish = async () => {
    setState({ step: 'publishing' });
    try {
      const report = await publishDraft(store, saver, errors.length > 0);
      setState({ step: 'done', report });
    } catch (error) {
      setState({ step: 'failed', message: messageOf(error) });
    }
  };
  const close = state.step === 'done' ? onPublished : onClose;
  return (
    <Dialog
      title={t('editor.publish.title')}
      onClose={close}
      footer={
        state.step === 'done' ? (
          <>
            <Button onPress={close}>{t('editor.publish.continue')}</Button>
            <Button kind="primary" to={`/lessons/${store.lessonId}`}>
              {t('editor.publish.open')}
            </Button>
          </>
        ) : (
          <>
            <Button onPress={onClose}>{t('cancel')}</Button>
            <Button
              kind={errors.length > 0 ? 'danger' : 'primary'}
              isBusy={state.step === 'publishing'}
              isDisabled={state.step === 'loading'}
              onPress={publish}
            >
              {t(errors.length > 0 ? 'lesson.publish_anyway' : 'lesson.publish')}
            </Button>
          </>
        )
      }
    >
      {state.step === 'loading' && <Progress value={undefined} label={t('editor.publish.checking')} />}
      {state.step === 'publishing' && <Progress value={undefined} label={t('editor.publish.running')} />}
      {state.step === 'failed' && (
        <Notice tone="bad" title={t('editor.publish.failed')}>
          <pre class="wrapping">{state.message}</pre>
        </Notice>
      )}
      {state.step === 'done' ? (
        <Published store={store} report={state.report} />
      ) : (
        <>
          {findings.length === 0 && state.step === 'review' && (
            <Notice tone="good">{t('editor.publish.fine')}</Notice>
          )}
          <Findings store={store} findings={findings} onOpen={onClose} />
          <ChangedSteps store={store} />
        </>
      )}
    </Dialog>
  );
}

async function publishDraft(store: EditorStore, saver: Saver, force: boolean): Promise<Report> {
  if (!(await saver.flush())) throw new Error(t('editor.publish.unsaved'));
  const params = { lessonId: store.lessonId };
  const begun = await request('POST /api/lessons/{lessonId}/draft/publish', {
    params,
    body: { publish: true, force },
  });
  const ended = await followImport(begun.id, () => undefined);
  if (ended.report === null) throw new Error(ended.error?.message ?? ended.status);
  return ended.report;
}

/** The steps that were saved since the draft began. */
function ChangedSteps({ store }: { store: EditorStore }): JSX.Element | null {
  const steps = store.skeleton.value.sections.flatMap((section) => section.steps);
  const changed = steps.filter(({ id }) => store.isChanged(id));
  if (changed.length === 0) return null;
  return (
    <section class="stack">
      <h3>{t('editor.publish.changed', { count: changed.length })}</h3>
      <ul class="bullets">
        {changed.map(({ id, title }) => (
          <li key={id} dir="auto">
            {title}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The version that was made, and how it differs from the one that the draft began with. */
function Published({ store, report }: { store: EditorStore; report: Report }): JSX.Element {
  const { lessonId, versionId, versionNumber: number, warnings } = report;
  const since = store.draft.versionId;
  const changes = useData('GET /api/lessons/{lessonId}/versions/{versionId}/changes', {
    params: { lessonId, versionId },
    query: { since },
  });
  return (
    <>
      <Notice tone="good" title={t('editor.publish.done', { number })} />
      <Warnings warnings={warnings.map((message) => ({ message, place: null }))} />
      {changes.data && (
        <ul class="change-counts">
          {changeLines(changes.data.summary).map(({ text, tone }) => (
            <li key={text}>
              <Badge tone={tone}>{text}</Badge>
            </li>
          ))}
        </ul>
      )}
      <p>
        <Link to={`/lessons/${lessonId}/changes?version=${versionId}&since=${since}`}>
          {t('editor.publish.compare')}
        </Link>
      </p>
    </>
  );
}
