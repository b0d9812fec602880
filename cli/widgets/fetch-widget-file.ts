import type { Downloader, DownloadError } from '../../shared/media/downloads/downloader.ts';
import { maxWidgetBytes, widgetMimeTypes } from '../../shared/widgets/check-widget-file.ts';
import type { WidgetFileKind } from '../../shared/widgets/check-widget-file.ts';

/**
 * Fetches a file of a widget into memory.
 *
 * @throws {DownloadError} when it cannot be had.
 */
export async function fetchWidgetFile(
  downloader: Downloader,
  { url, kind, signal }: { url: string; kind: WidgetFileKind; signal: AbortSignal },
): Promise<Buffer> {
  const request = {
    url,
    // A command shares its downloads with no one.
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

/** Says why a file could not be had, and what to do about it where that is known. */
export function describeFailure({ reason, status }: DownloadError): string {
  const hint =
    reason === 'blocked_address' ? ' (name it in LECTERN_ALLOWED_PRIVATE_HOSTS where it is your own)' : '';
  return `${reason}${status === undefined ? '' : `, status ${status}`}${hint}`;
}
