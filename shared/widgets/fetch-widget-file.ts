import type { Downloader, DownloadError } from '../media/downloads/downloader.ts';
import { maxWidgetBytes, widgetMimeTypes } from './check-widget-file.ts';
import type { WidgetFileKind } from './check-widget-file.ts';

export interface WidgetFileRequest {
  url: string;
  /** The organization whose share of downloads it uses. */
  organizationId: string;
  kind: WidgetFileKind;
  signal: AbortSignal;
}

/**
 * Downloads a widget's file into memory.
 *
 * @throws {DownloadError}
 */
export async function fetchWidgetFile(
  downloader: Downloader,
  { url, organizationId, kind, signal }: WidgetFileRequest,
): Promise<Buffer> {
  const request = {
    url,
    organizationId,
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
