import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Delivery, Routes } from '../../api-types.ts';
import { ActionDialog, Dialog } from '../../kit/dialog.tsx';
import { SelectField, TextField } from '../../kit/field.tsx';
import { Badge, CopyText, Facts } from '../../kit/parts.tsx';
import { Time } from '../../kit/time.tsx';
import { orToast, toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { Link } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';

/** Sends deliveries again, or dismisses them, one by one until one fails. Says how many. */
export async function changeDeliveries(
  name: 'resend' | 'dismiss',
  deliveries: readonly Delivery[],
): Promise<void> {
  let count = 0;
  await orToast(async () => {
    for (const { id: deliveryId } of deliveries) {
      await request(`POST /api/deliveries/{deliveryId}/${name}`, { params: { deliveryId } });
      count += 1;
    }
  });
  if (count > 0) toast(name === 'resend' ? t('delivery.resent', { count }) : t('delivery.let_go', { count }));
}

/** Each attempt of a delivery: when, how long, and what the receiver answered. */
export function AttemptsDialog({
  delivery: { id, type, lessonId, learnerId, attempts },
  onClose,
}: {
  delivery: Delivery;
  onClose: () => void;
}): JSX.Element {
  return (
    <Dialog title={type} isWide onClose={onClose}>
      <Facts
        items={[
          [t('delivery.id'), <CopyText key="id" value={id} label={t('delivery.id')} />],
          lessonId !== null && [
            t('delivery.lesson'),
            <Link key="lesson" to={`/lessons/${lessonId}`}>
              {lessonId}
            </Link>,
          ],
          learnerId !== null && [
            t('learners.learner'),
            <CopyText key="learner" value={learnerId} label={t('learners.learner')} />,
          ],
        ]}
      />
      {attempts.length === 0 && <p class="muted">{t('delivery.no_attempts')}</p>}
      <ol class="stack">
        {attempts.toReversed().map(({ at, milliseconds, status, error, response }) => (
          <li key={at} class="stack">
            <div class="toolbar">
              <Badge tone={error === null ? 'good' : 'bad'}>{status ?? t('delivery.no_response')}</Badge>
              <Time at={at} />
              {milliseconds !== null && <span class="muted">{milliseconds} ms</span>}
            </div>
            {error !== null && <p>{error}</p>}
            {response !== null && response !== '' && (
              <div class="code-block">
                <pre tabIndex={0} aria-label={t('delivery.response')}>
                  <code>{response}</code>
                </pre>
              </div>
            )}
          </li>
        ))}
      </ol>
    </Dialog>
  );
}

type Period = Routes['POST /api/webhooks/{webhookId}/replay']['body'];

/** Sends the deliveries of a period again. @param props.onReplay returns how many there are */
export function ReplayDialog({
  onReplay,
  onClose,
  onDone,
}: {
  onReplay: (period: Period) => Promise<{ count: number }>;
  onClose: () => void;
  onDone: () => void;
}): JSX.Element {
  const [since, setSince] = useState('');
  const [until, setUntil] = useState('');
  const [status, setStatus] = useState<'failed' | ''>('failed');
  return (
    <ActionDialog
      title={t('delivery.replay')}
      action={t('delivery.replay_do')}
      isDisabled={since === ''}
      onClose={onClose}
      onAction={async () => {
        const { count } = await onReplay({
          since: new Date(since).toISOString(),
          ...(until !== '' && { until: new Date(until).toISOString() }),
          ...(status !== '' && { status }),
        });
        toast(t('delivery.resent', { count }));
        onDone();
      }}
    >
      <SelectField
        label={t('delivery.replay_what')}
        value={status}
        options={[
          { value: 'failed', label: t('delivery.replay_failed') },
          { value: '', label: t('delivery.replay_all') },
        ]}
        onChange={setStatus}
      />
      <TextField label={t('delivery.replay_since')} type="datetime-local" value={since} onInput={setSince} />
      <TextField label={t('delivery.replay_until')} type="datetime-local" value={until} onInput={setUntil} />
    </ActionDialog>
  );
}
