import 'messages:page/retention';
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Retention, RetentionDryRun } from '../../api-types.ts';
import { Button } from '../../kit/button.tsx';
import { ActionDialog } from '../../kit/dialog.tsx';
import { TextField } from '../../kit/field.tsx';
import { ErrorState, Facts } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';
import { messageOf, toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { useData } from '../../shell/data.ts';
import { PageFrame } from '../../shell/page.tsx';
import { formatLocale, t } from '../../shell/text.ts';

type Days = Retention['days'];

const kinds = ['progress', 'ltiProgress', 'grades', 'deliveries'] as const satisfies (keyof Days)[];

/** How long records of learners are kept. A change shows first what it would remove. */
export default function RetentionPage(): JSX.Element {
  const { data, error, reload } = useData('GET /api/retention');
  return (
    <PageFrame title={t('retention.title')}>
      {error !== undefined && <ErrorState error={error} onRetry={reload} />}
      {data !== undefined && (
        <RetentionForm key={JSON.stringify(data.days)} retention={data} onSaved={reload} />
      )}
    </PageFrame>
  );
}

function RetentionForm({
  retention,
  onSaved,
}: {
  retention: Retention;
  onSaved: () => Promise<void>;
}): JSX.Element {
  const initial = Object.fromEntries(kinds.map((kind) => [kind, String(retention.days[kind] ?? '')]));
  const [texts, setTexts] = useState<Record<string, string>>(initial);
  const [error, setError] = useState<string>();
  const [dryRun, setDryRun] = useState<RetentionDryRun>();
  const days = daysOf(texts);
  const preview = async () => {
    setError(undefined);
    try {
      const counted = await request('PUT /api/retention', { query: { dryRun: 'true' }, body: { days } });
      if ('wouldRemove' in counted) setDryRun(counted);
    } catch (failure) {
      setError(messageOf(failure));
    }
  };
  const save = async () => {
    await request('PUT /api/retention', { body: { days } });
    toast(t('retention.saved'));
    setDryRun(undefined);
    await onSaved();
  };
  return (
    <form
      class="card is-narrow"
      onSubmit={(event) => {
        event.preventDefault();
        void preview();
      }}
    >
      <p class="muted">{t('retention.text')}</p>
      {kinds.map((kind) => (
        <TextField
          key={kind}
          label={t(`retention.${kind}`)}
          inputMode="numeric"
          placeholder={t('retention.forever')}
          value={texts[kind] ?? ''}
          onInput={(value) => setTexts({ ...texts, [kind]: value })}
        />
      ))}
      {error !== undefined && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      <div class="toolbar">
        <Button kind="primary" onPress={preview}>
          {t('retention.preview')}
        </Button>
        {retention.nextRunAt !== null && (
          <span class="muted">
            {t('retention.next')} <Time at={retention.nextRunAt} />
          </span>
        )}
      </div>
      {dryRun && <ConfirmDialog dryRun={dryRun} onClose={() => setDryRun(undefined)} onSave={save} />}
    </form>
  );
}

function ConfirmDialog({
  dryRun,
  onClose,
  onSave,
}: {
  dryRun: RetentionDryRun;
  onClose: () => void;
  onSave: () => Promise<void>;
}): JSX.Element {
  return (
    <ActionDialog
      title={t('retention.confirm')}
      action={t('save')}
      isDanger={total(dryRun) > 0}
      onClose={onClose}
      onAction={onSave}
    >
      <p>{total(dryRun) > 0 ? t('retention.removes') : t('retention.removes_nothing')}</p>
      <Facts
        items={kinds.map((kind) => [
          t(`retention.${kind}`),
          dryRun.wouldRemove[kind].toLocaleString(formatLocale()),
        ])}
      />
    </ActionDialog>
  );
}

function total({ wouldRemove }: RetentionDryRun): number {
  return kinds.reduce((sum, kind) => sum + wouldRemove[kind], 0);
}

/** Returns the days as the request takes them; the service rejects what is not a whole number. */
function daysOf(texts: Record<string, string>): Days {
  const entries = kinds.map((kind) => {
    const text = (texts[kind] ?? '').trim();
    return [kind, text === '' ? null : Number(text)];
  });
  return Object.fromEntries(entries) as Days;
}
