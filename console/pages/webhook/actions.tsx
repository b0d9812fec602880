import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Webhook } from '../../api-types.ts';
import { ActionDialog } from '../../kit/dialog.tsx';
import { SelectField } from '../../kit/field.tsx';
import { toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { navigate } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';

const overlaps = ['0', '3600', '86400'] as const;

/** Makes another secret. For a while, both sign. */
export function RotateDialog({
  webhookId,
  onClose,
  onDone,
}: {
  webhookId: string;
  onClose: () => void;
  onDone: (secret: string) => void;
}): JSX.Element {
  const [overlap, setOverlap] = useState<(typeof overlaps)[number]>('86400');
  return (
    <ActionDialog
      title={t('webhook.rotate')}
      action={t('webhook.rotate')}
      onClose={onClose}
      onAction={async () => {
        const body = { overlapSeconds: Number(overlap) };
        const { secret } = await request('POST /api/webhooks/{webhookId}/rotate', {
          params: { webhookId },
          body,
        });
        onDone(secret);
      }}
    >
      <SelectField
        label={t('webhook.overlap')}
        help={t('webhook.overlap_help')}
        value={overlap}
        options={overlaps.map((value) => ({ value, label: t(`webhook.overlap_${value}`) }))}
        onChange={setOverlap}
      />
    </ActionDialog>
  );
}

/** Deletes a webhook, after saying what follows. */
export function DeleteDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }): JSX.Element {
  return (
    <ActionDialog
      title={t('webhook.delete_title')}
      action={t('webhook.delete')}
      isDanger
      onClose={onClose}
      onAction={async () => {
        await request('DELETE /api/webhooks/{webhookId}', { params: { webhookId: webhook.id } });
        toast(t('webhook.deleted'));
        navigate('/webhooks');
      }}
    >
      <p>{t('webhook.delete_text', { url: webhook.url })}</p>
    </ActionDialog>
  );
}
