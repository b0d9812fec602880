import 'messages:page/report';
import { importFormats } from 'messages:import-formats';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { LessonImport } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Checkbox } from '../../kit/field.tsx';
import { Icon } from '../../kit/icon.tsx';
import { Notice, Progress } from '../../kit/parts.tsx';
import { messageOf } from '../../kit/toast.tsx';
import { Link, navigate } from '../../shell/router.tsx';
import { formatBytes, t } from '../../shell/text.ts';
import { CheckResult, Warnings, useCheck } from '../lesson/actions.tsx';
import { ReportCounts, ReportEntries, results } from '../lesson-report/report.tsx';
import { followImport } from './data.ts';

type State =
  | { step: 'choose' }
  | { step: 'upload'; file: File; share: number }
  | { step: 'import'; file: File; shown: LessonImport }
  | { step: 'done'; report: NonNullable<LessonImport['report']> }
  | { step: 'failed'; file: File; message: string };

/**
 * Imports a package: choose or drop a file, upload it, follow the import, read the report.
 *
 * @param props.file a file that was dropped on the page
 * @param props.onImported called when a version was imported
 */
export function ImportDialog({
  file,
  onClose,
  onImported,
}: {
  file?: File | undefined;
  onClose: () => void;
  onImported: () => unknown;
}): JSX.Element {
  const [publish, setPublish] = useState(false);
  const { state, start, cancel } = useImport(publish);
  useEffect(() => {
    if (file !== undefined) void start(file);
    // Only the file that the dialog was opened with.
  }, []);
  const isDone = state.step === 'done';
  const close = () => {
    cancel();
    if (isDone) onImported();
    onClose();
  };
  return (
    <Dialog title={t('import.title')} onClose={close} footer={<Footer state={state} onClose={close} />}>
      {state.step === 'choose' && (
        <>
          <FileDrop onFile={start} />
          <Templates />
          <Checkbox
            label={t('import.publish')}
            help={t('import.publish_help')}
            isChecked={publish}
            onChange={setPublish}
          />
        </>
      )}
      {state.step === 'upload' && (
        <Running file={state.file} value={state.share} text={t('import.uploading')} />
      )}
      {state.step === 'import' && (
        <Running file={state.file} value={shareOf(state.shown)} text={t(`import.${textOf(state.shown)}`)} />
      )}
      {state.step === 'failed' && (
        <>
          <Notice tone="bad" title={t('import.failed', { file: state.file.name })}>
            <pre class="wrapping">{state.message}</pre>
          </Notice>
          <FileDrop onFile={start} />
        </>
      )}
      {state.step === 'done' && <Report report={state.report} />}
    </Dialog>
  );
}

function Footer({ state, onClose }: { state: State; onClose: () => void }): JSX.Element {
  if (state.step !== 'done') return <Button onPress={onClose}>{t('cancel')}</Button>;
  const { lessonId } = state.report;
  return (
    <>
      <Button onPress={onClose}>{t('close')}</Button>
      <Button
        kind="primary"
        onPress={() => {
          onClose();
          navigate(`/lessons/${lessonId}`);
        }}
      >
        {t('import.open')}
      </Button>
    </>
  );
}

function useImport(publish: boolean) {
  const [state, setState] = useState<State>({ step: 'choose' });
  const running = useRef<AbortController | undefined>(undefined);
  const start = async (file: File) => {
    running.current?.abort();
    const own = new AbortController();
    running.current = own;
    const show = (next: State) => {
      if (!own.signal.aborted) setState(next);
    };
    try {
      show({ step: 'upload', file, share: 0 });
      const { uploadPackage } = await import('./upload.ts');
      const importId = await uploadPackage(file, {
        publish,
        onProgress: (share) => show({ step: 'upload', file, share }),
        signal: own.signal,
      });
      const ended = await followImport(
        importId,
        (shown) => show({ step: 'import', file, shown }),
        own.signal,
      );
      if (ended.report !== null) show({ step: 'done', report: ended.report });
      else show({ step: 'failed', file, message: ended.error?.message ?? ended.status });
    } catch (error) {
      show({ step: 'failed', file, message: messageOf(error) });
    }
  };
  return { state, start, cancel: () => running.current?.abort() };
}

function shareOf({ progress: { done, total } }: LessonImport): number | undefined {
  return total === 0 ? undefined : done / total;
}

function textOf({ status }: LessonImport): 'queued' | 'importing' {
  return status === 'importing' ? 'importing' : 'queued';
}

function Running({
  file,
  value,
  text,
}: {
  file: File;
  value: number | undefined;
  text: string;
}): JSX.Element {
  return (
    <div class="stack">
      <p>
        <strong>{file.name}</strong> <span class="muted">{formatBytes(file.size)}</span>
      </p>
      <Progress value={value} label={text} />
      <p class="muted" role="status">
        {text}
      </p>
    </div>
  );
}

function FileDrop({ onFile }: { onFile: (file: File) => unknown }): JSX.Element {
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const take = (files: FileList | null | undefined) => {
    const [file] = files ?? [];
    if (file !== undefined) void onFile(file);
  };
  return (
    <div
      class={`drop-zone${isOver ? ' is-over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files);
      }}
    >
      <Icon name="upload" />
      <p>{t('import.drop', { formats: importFormats })}</p>
      <input
        ref={input}
        type="file"
        accept=".zip,.h5p,.md,.xml,.gift,.txt,.csv,.xlsx"
        hidden
        onChange={({ currentTarget }) => take(currentTarget.files)}
      />
      <Button onPress={() => input.current?.click()}>{t('import.choose')}</Button>
    </div>
  );
}

function Report({ report }: { report: NonNullable<LessonImport['report']> }): JSX.Element {
  const { lessonId, versionId, versionNumber: number, published, media, widgets, warnings } = report;
  const { conversion } = report;
  const checked = useCheck({ lessonId, versionId });
  // The check names the blocks of its warnings.
  const { playability, warnings: found = [] } = checked.data ?? {};
  const known = [...(playability?.errors ?? []), ...found].map(({ message }) => `lesson.json: ${message}`);
  const others = warnings.filter((message) => !known.includes(message));
  return (
    <>
      <Notice tone="good" title={t(published ? 'import.done_published' : 'import.done', { number })}>
        {t('import.contents', { media, widgets })}
      </Notice>
      {conversion && <Conversion lessonId={lessonId} versionId={versionId} conversion={conversion} />}
      <Warnings warnings={others.map((message) => ({ message, place: null }))} />
      <CheckResult {...checked} />
    </>
  );
}

const shownLosses = 10;

/** What became of a file in another format: the counts, and what is not fully converted. */
function Conversion({
  lessonId,
  versionId,
  conversion,
}: {
  lessonId: string;
  versionId: string;
  conversion: NonNullable<NonNullable<LessonImport['report']>['conversion']>;
}): JSX.Element {
  const losses = (conversion.entries ?? []).filter(({ result }) => result !== 'converted');
  const worst = results.flatMap((wanted) => losses.filter(({ result }) => result === wanted));
  return (
    <>
      <ReportCounts counts={conversion} />
      {worst.length > 0 && (
        <ReportEntries entries={worst.slice(0, shownLosses)} previewed={{ lessonId, versionId }} />
      )}
      <p>
        <Link to={`/lessons/${lessonId}/report/${versionId}`}>{t('report.open')}</Link>
      </p>
    </>
  );
}

/** Tables with a question of each type, to fill in. */
function Templates(): JSX.Element {
  const save = async (type: 'csv' | 'xlsx') => {
    const { csvTemplate, xlsxTemplate } = await import('../../../shared/converters/spreadsheet/template.ts');
    const bytes = type === 'csv' ? csvTemplate() : (xlsxTemplate() as Uint8Array<ArrayBuffer>);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([bytes]));
    link.download = `questions.${type}`;
    link.click();
    // The download has begun when the click returns.
    URL.revokeObjectURL(link.href);
  };
  return (
    <div class="toolbar">
      <span class="muted">{t('import.templates')}</span>
      <Button icon="download" onPress={() => save('xlsx')}>
        Excel
      </Button>
      <Button icon="download" onPress={() => save('csv')}>
        CSV
      </Button>
    </div>
  );
}

/**
 * Makes a page take a file that is dropped anywhere on it.
 *
 * @returns the file, until it is taken
 */
export function useDroppedFile(): [file: File | undefined, take: () => void] {
  const [file, setFile] = useState<File>();
  useEffect(() => {
    const allow = (event: DragEvent) => {
      if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
    };
    const drop = (event: DragEvent) => {
      const [dropped] = event.dataTransfer?.files ?? [];
      // A drop zone on the page has taken it.
      if (event.defaultPrevented || dropped === undefined) return;
      event.preventDefault();
      setFile(dropped);
    };
    addEventListener('dragover', allow);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', allow);
      removeEventListener('drop', drop);
    };
  }, []);
  return [file, () => setFile(undefined)];
}
