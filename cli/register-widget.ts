import { createDownloader, DownloadError } from '../shared/downloads/downloader.ts';
import type { Downloader } from '../shared/downloads/downloader.ts';
import { LecternError } from '../shared/errors.ts';
import { bytesOf } from '../shared/storage/digest.ts';
import { releaseWidget } from '../shared/widgets/releases.ts';
import { requireOrganization } from './context.ts';
import type { CommandContext } from './context.ts';

/** A widget is read whole before it is kept; none is larger than this. */
const maxWidgetBytes = 16 * 1024 ** 2;

export interface RegisterOptions {
  org: string;
  type: string;
  js: string;
  css?: string;
}

/**
 * Fetches the files of a widget, and keeps them as its newest release.
 *
 * @throws {LecternError} NOT_FOUND for an organization that does not exist; INVALID_CONTENT for a file that cannot be
 * fetched.
 */
export async function registerWidget(
  { config, db, store, signal }: CommandContext,
  options: RegisterOptions,
) {
  const { _id: organizationId } = await requireOrganization(db, options.org);
  const downloader = createDownloader(config.download);
  try {
    const js = await fetchFile(downloader, options.js, 'text/javascript', signal);
    const css =
      options.css === undefined ? null : await fetchFile(downloader, options.css, 'text/css', signal);
    const files = { js: bytesOf(js), css: css === null ? null : bytesOf(css) };
    return await releaseWidget(db, store, { organizationId, type: options.type, ...files });
  } finally {
    downloader.close();
  }
}

async function fetchFile(
  downloader: Downloader,
  url: string,
  mimeType: string,
  signal: AbortSignal,
): Promise<Buffer> {
  try {
    const result = await downloader.download(
      { url, mimeType, maxBytes: maxWidgetBytes, signal },
      async (body) => {
        const chunks: Uint8Array[] = [];
        for await (const chunk of body) chunks.push(chunk);
        return Buffer.concat(chunks);
      },
    );
    return result.modified ? result.stored : Buffer.alloc(0);
  } catch (error) {
    if (!(error instanceof DownloadError)) throw error;
    const hint =
      error.reason === 'blocked_address'
        ? ' (name it in LECTERN_ALLOWED_PRIVATE_HOSTS where it is your own)'
        : '';
    throw new LecternError('INVALID_CONTENT', `Cannot fetch ${url}: ${error.reason}${hint}`, {
      cause: error,
    });
  }
}
