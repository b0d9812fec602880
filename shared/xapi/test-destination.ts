import type { XapiDestination } from '../models/xapi-destination.ts';
import { OutboundError } from '../platform/errors.ts';
import { isSuccess } from '../platform/http/request.ts';
import { requestReceiver } from '../webhooks/receiver-request.ts';
import type { ReceiverResponse } from '../webhooks/receiver-request.ts';
import { privateHostsOf } from '../webhooks/receiver-url.ts';
import type { ReceiverConfig } from '../webhooks/receiver-url.ts';
import { xapiHeaders } from './destinations.ts';

/** `unsure`: the credentials may not read statements, and only a statement would show whether they may send some. */
export const testResults = ['ok', 'unsure', 'failed'] as const;

export interface DestinationTest {
  result: (typeof testResults)[number];
  /** The status of the response; null without one. */
  status: number | null;
  message: string;
}

/** No statement is that new: the LRS returns an empty list, which is small and names no learner. */
const nothing = '?limit=1&since=9999-01-01T00%3A00%3A00Z';

/**
 * Asks an LRS for an empty list of statements. It stores nothing there; `about`, which LRSs may lack, would need no
 * credentials.
 *
 * @throws {LecternError} as {@link xapiHeaders}.
 */
export async function testDestination(
  destination: XapiDestination,
  { config, pepper }: { config: ReceiverConfig; pepper: string },
): Promise<DestinationTest> {
  const url = new URL(`statements${nothing}`, destination.endpoint);
  const headers = xapiHeaders(destination, pepper);
  try {
    const privateHosts = privateHostsOf(url, config);
    return judge(await requestReceiver(url, { headers, privateHosts, needsBody: true }));
  } catch (error) {
    if (error instanceof OutboundError) return { result: 'failed', status: null, message: error.message };
    throw error;
  }
}

function judge({ status, text }: ReceiverResponse): DestinationTest {
  const failed = (message: string) => ({ result: 'failed' as const, status, message });
  if (isSuccess(status)) {
    return isList(text)
      ? { result: 'ok', status, message: 'The LRS accepts the user name and the password' }
      : failed(`The server returned ${status}, but no list of statements: another server is at the URL`);
  }
  switch (status) {
    case 401:
      return failed('The LRS does not accept the user name and the password');
    case 403:
      return {
        ...{ result: 'unsure', status },
        message:
          'The user name and the password may not read statements; a statement shows if they may send some',
      };
    case 404:
      return failed('The server has no xAPI at the endpoint');
    default:
      return failed(`The LRS returned ${status}`);
  }
}

function isList(text: string): boolean {
  try {
    const { statements } = (JSON.parse(text) ?? {}) as { statements?: unknown };
    return Array.isArray(statements);
  } catch {
    return false;
  }
}
