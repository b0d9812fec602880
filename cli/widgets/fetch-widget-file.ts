import type { Downloader, DownloadError } from '../../shared/media/downloads/downloader.ts';
import { maxWidgetBytes, widgetMimeTypes } from '../../shared/widgets/check-widget-file.ts';
import type { WidgetFileKind } from '../../shared/widgets/check-widget-file.ts';

/**
 * Downloads a widget's file into memory.
 *
 * @throws {DownloadError}
 */
export async function fetchWidgetFile(
  downloader: Downloader,
  { url, kind, signal }: { url: string; kind: WidgetFileKind; signal: AbortSignal },
): Promise<Buffer> {
  const request = {
    url,
    // The command shares its downloads with no organization.
    organizationId: 'this command',
    mimeType: widgetMimeTypes[kind],
    maxBytes: maxWidgetBytes,
    signal,
  };
  const result = await downloader.download(request, async (body) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks);
  });
  return result.modified ? result.stored : Buffer.alloc(0);
}

/** Describes why a download failed, with the solution if it is known. */
export function describeFailure({ reason, status }: DownloadError): string {
  const hint =
    reason === 'blocked_address' ? ' (if the host is yours, add it to LECTERN_ALLOWED_PRIVATE_HOSTS)' : '';
  return `${reason}${status === undefined ? '' : `, status ${status}`}${hint}`;
}
