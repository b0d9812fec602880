import type { JSX } from 'preact';
import type { XapiDestination } from '../../api-types.ts';
import { ActionDialog } from '../../kit/dialog.tsx';
import { orToast, toast } from '../../kit/toast.tsx';
import { request } from '../../shell/api.ts';
import { navigate } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';

/** Asks the LRS whether it accepts the credentials, and says what it answered. */
export async function testDestination(destinationId: string): Promise<void> {
  await orToast(async () => {
    const { result, message } = await request('POST /api/xapi-destinations/{destinationId}/test', {
      params: { destinationId },
    });
    if (result === 'failed') toast(t('destination.test_failed', { message }), 'failed');
    else toast(t(`destination.test_${result}`));
  });
}

/** Deletes a destination, after saying what follows. */
export function DeleteDialog({
  destination: { id: destinationId, endpoint },
  onClose,
}: {
  destination: XapiDestination;
  onClose: () => void;
}): JSX.Element {
  return (
    <ActionDialog
      title={t('destination.delete_title')}
      action={t('destination.delete')}
      isDanger
      onClose={onClose}
      onAction={async () => {
        await request('DELETE /api/xapi-destinations/{destinationId}', { params: { destinationId } });
        toast(t('destination.deleted'));
        navigate('/destinations');
      }}
    >
      <p>{t('destination.delete_text', { endpoint })}</p>
    </ActionDialog>
  );
}
