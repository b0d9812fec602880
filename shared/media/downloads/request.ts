import type { Connections } from '../../platform/http/connections.ts';
import { OutboundError } from '../../platform/errors.ts';
import { send } from '../../platform/http/request.ts';
import type { OutboundResponse } from '../../platform/http/request.ts';
import { DownloadError } from './failure.ts';

/**
 * Sends one GET without following redirects.
 *
 * @throws {DownloadError} `blocked_address`, `timeout` or `network`; the signal's reason when it is aborted.
 */
export async function get(
  url: URL,
  { connections, useNewConnection }: { connections: Connections; useNewConnection: boolean },
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<OutboundResponse> {
  try {
    return await send(url, { connections, useNewConnection, headers, signal });
  } catch (error) {
    if (error instanceof OutboundError) throw new DownloadError(error.reason, error.message);
    throw error;
  }
}
