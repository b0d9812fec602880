import { Upload } from 'tus-js-client';
import { ApiError, base } from '../../shell/api.ts';
import { renewSession } from '../../shell/session.ts';

const retryDelays = [0, 1_000, 3_000, 10_000, 20_000];

/**
 * Uploads a package, resuming after failures, and after a new login if the session ends meanwhile.
 *
 * @param onProgress gets the share that has arrived, from 0 to 1
 * @param signal stops the upload, and deletes its bytes
 * @returns the id of the import
 * @throws {ApiError} when the service rejects the package
 */
export async function uploadPackage(
  file: File,
  {
    publish,
    onProgress,
    signal,
  }: { publish: boolean; onProgress: (share: number) => void; signal: AbortSignal },
): Promise<string> {
  // The URL of the import, once it exists. A new login continues the upload there.
  const upload: { url?: string } = {};
  for (;;) {
    try {
      await uploadOnce(upload);
      return upload.url?.split('/').at(-1) ?? '';
    } catch (error) {
      const isLoggedOut = error instanceof ApiError && error.status === 401;
      if (!isLoggedOut || !(await renewSession())) throw error;
    }
  }

  function uploadOnce(begun: { url?: string }): Promise<void> {
    let ended = () => {};
    return new Promise<void>((resolve, reject) => {
      const cancel = () => {
        void sending.abort(true);
        reject(new DOMException('canceled', 'AbortError'));
      };
      const sending = new Upload(file, {
        ...(begun.url === undefined ? { endpoint: `${base}/api/lessons/imports` } : { uploadUrl: begun.url }),
        metadata: { filename: file.name, publish: String(publish) },
        retryDelays,
        storeFingerprintForResuming: false,
        onUploadUrlAvailable: () => {
          if (sending.url !== null) begun.url = sending.url;
        },
        onProgress: (sent, total) => onProgress(total === 0 ? 1 : sent / total),
        onShouldRetry: ({ originalResponse }) => {
          const status = originalResponse?.getStatus() ?? 0;
          return status === 0 || status === 423 || status >= 500;
        },
        onSuccess: () => resolve(),
        onError: (error) => reject(toApiError(error)),
      });
      signal.addEventListener('abort', cancel);
      ended = () => signal.removeEventListener('abort', cancel);
      sending.start();
    }).finally(() => ended());
  }
}

function toApiError(error: Error): ApiError {
  const response = 'originalResponse' in error ? (error.originalResponse as TusResponse | null) : null;
  if (response === null) return new ApiError(error.message, 0, 'NETWORK');
  const { error: text, code } = parse(response.getBody());
  return new ApiError(text ?? error.message, response.getStatus(), code ?? 'INTERNAL_ERROR');
}

interface TusResponse {
  getStatus(): number;
  getBody(): string;
}

function parse(body: string): { error?: string; code?: string } {
  try {
    return JSON.parse(body) as { error?: string; code?: string };
  } catch {
    return {};
  }
}
