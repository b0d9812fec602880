import type { JSX } from 'preact';
import { Dialog } from '../../kit/dialog.tsx';
import { ErrorState, Progress } from '../../kit/parts.tsx';
import { toast } from '../../kit/toast.tsx';
import { ApiError, request, send, urlOf } from '../../shell/api.ts';
import { useData } from '../../shell/data.ts';
import { t } from '../../shell/text.ts';
import type { TextKey } from '../../shell/text.ts';
import { messageOf } from '../../kit/toast.tsx';
import type { Export, ExportQuery } from './data.ts';

interface OfVersion {
  lessonId: string;
  versionId: string;
}

/** Returns the URL that downloads an archive. */
export function downloadUrl(params: OfVersion, query: ExportQuery): string {
  return urlOf('GET /api/lessons/{lessonId}/versions/{versionId}/export-zip', { params, query });
}

/** Asks for archives, without waiting for them. */
export async function buildExports(params: OfVersion, exports: readonly Export[]): Promise<void> {
  await Promise.all(
    exports.map(async ({ query, reload }) => {
      try {
        await send('GET /api/lessons/{lessonId}/versions/{versionId}/export-zip', {
          ...{ params, query, method: 'HEAD' },
          headers: { Prefer: 'respond-async' },
        });
      } catch (error) {
        const isPlan = error instanceof ApiError && error.code === 'FEATURE_NOT_AVAILABLE';
        toast(isPlan ? t('exports.plan') : messageOf(error), 'failed');
      }
      await reload();
    }),
  );
}

/** Cancels a build, unless another request waits for it. */
export async function cancelExport(params: OfVersion, { query, reload }: Export): Promise<void> {
  try {
    await request('DELETE /api/lessons/{lessonId}/versions/{versionId}/export-status', { params, query });
  } catch (error) {
    toast(messageOf(error), 'failed');
  }
  await reload();
}

/** What an archive holds, and what it lacks and why. */
export function ContentsDialog({
  params,
  query,
  title,
  onClose,
}: {
  params: OfVersion;
  query: ExportQuery;
  title: string;
  onClose: () => void;
}): JSX.Element {
  const { data, error, reload } = useData(
    'GET /api/lessons/{lessonId}/versions/{versionId}/export-manifest',
    { params, query },
  );
  return (
    <Dialog title={title} isWide onClose={onClose}>
      {error !== undefined && <ErrorState error={error} onRetry={reload} />}
      {error === undefined && data === undefined && <Progress value={undefined} label={title} />}
      {data !== undefined && 'files' in data && (
        <>
          <p>
            {t('exports.files', {
              media: data.files.media.length,
              widgets: data.files.widgets.length,
              failed: data.failedMedia.length + data.failedWidgets.length,
            })}
          </p>
          {data.failedMedia.length + data.failedWidgets.length > 0 && (
            <table class="data">
              <thead>
                <tr>
                  <th scope="col">{t('exports.file')}</th>
                  <th scope="col">{t('exports.reason')}</th>
                </tr>
              </thead>
              <tbody>
                {[...data.failedMedia, ...data.failedWidgets].map((failed, index) => (
                  <tr key={index}>
                    <td>
                      {failed.sourceUrl ?? ('localPath' in failed ? failed.localPath : failed.widgetType)}
                    </td>
                    <td>
                      {t(`exports.reason.${failed.reason}` as TextKey & `exports.reason.not_found`)}
                      {failed.status !== undefined && ` (${failed.status})`}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </>
      )}
    </Dialog>
  );
}
