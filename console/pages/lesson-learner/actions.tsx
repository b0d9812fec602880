import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ActionDialog } from '../../kit/dialog.tsx';
import { SelectField } from '../../kit/field.tsx';
import { ErrorState, Facts, Progress } from '../../kit/parts.tsx';
import { toast } from '../../kit/toast.tsx';
import { request, urlOf } from '../../shell/api.ts';
import { useData } from '../../shell/data.ts';
import { navigate } from '../../shell/router.tsx';
import { t } from '../../shell/text.ts';

type Lti = { platformId: string } | null;
type Mode = 'erase' | 'anonymize';

/** Returns the URL that downloads everything about a learner. */
export function exportUrl(learnerId: string, lti: Lti): string {
  if (lti === null) return urlOf('GET /api/learners/{learnerId}/export', { params: { learnerId } });
  const query = { platformId: lti.platformId };
  return urlOf('GET /api/lti-learners/{ltiUserId}/export', { params: { ltiUserId: learnerId }, query });
}

/** Erases a learner in all lessons, after a dry run that counts what goes. */
export function EraseDialog({
  learnerId,
  lti,
  back,
  onClose,
}: {
  learnerId: string;
  lti: Lti;
  back: string;
  onClose: () => void;
}): JSX.Element {
  const [mode, setMode] = useState<Mode>('erase');
  const preview = usePreview(learnerId, lti, mode);
  const found = preview.data !== undefined && 'removed' in preview.data ? preview.data : undefined;
  const outside = found?.downstream;
  return (
    <ActionDialog
      title={t('learner.erase_title', { learner: learnerId })}
      action={t(mode === 'erase' ? 'learner.erase' : 'learner.anonymize')}
      isDanger
      isDisabled={found === undefined}
      onClose={onClose}
      onAction={async () => {
        await erase(learnerId, lti, mode);
        toast(t('learner.erasing', { learner: learnerId }));
        navigate(back);
      }}
    >
      <SelectField
        label={t('learner.mode')}
        help={t(`learner.mode_${mode}`)}
        value={mode}
        options={[
          { value: 'erase', label: t('learner.erase') },
          { value: 'anonymize', label: t('learner.anonymize') },
        ]}
        onChange={setMode}
      />
      {preview.error !== undefined && <ErrorState error={preview.error} onRetry={preview.reload} />}
      {preview.error === undefined && found === undefined && (
        <Progress value={undefined} label={t('learner.counting')} />
      )}
      {found && (
        <Facts
          items={[
            [t('learner.removed_progress'), found.removed.progress + found.removed.ltiProgress],
            [t('learner.removed_grades'), found.removed.grades],
            [t('learner.removed_deliveries'), found.removed.deliveries],
          ]}
        />
      )}
      {outside && outside.gradebooks.length + outside.recordStores.length > 0 && (
        <p class="muted">
          {t('learner.downstream', {
            gradebooks: outside.gradebooks.length,
            stores: outside.recordStores.length,
          })}
        </p>
      )}
    </ActionDialog>
  );
}

function erase(learnerId: string, lti: Lti, mode: Mode) {
  if (lti === null)
    return request('DELETE /api/learners/{learnerId}', { params: { learnerId }, query: { mode } });
  const query = { mode, platformId: lti.platformId };
  return request('DELETE /api/lti-learners/{ltiUserId}', { params: { ltiUserId: learnerId }, query });
}

function usePreview(learnerId: string, lti: Lti, mode: Mode) {
  const embed = useData(lti === null ? 'DELETE /api/learners/{learnerId}' : null, {
    params: { learnerId },
    query: { dryRun: 'true', mode },
  });
  const platform = useData(lti === null ? null : 'DELETE /api/lti-learners/{ltiUserId}', {
    params: { ltiUserId: learnerId },
    query: { dryRun: 'true', mode, platformId: lti?.platformId ?? '' },
  });
  return lti === null ? embed : platform;
}
