import { codeOf } from '../errors.ts';

export type OutboundFault = 'blocked_address' | 'timeout' | 'network';

/** A failed outbound request. The message names the host, never the whole URL: URLs may contain signatures. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly reason: OutboundFault;

  constructor(reason: OutboundFault, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Returns the code of a network error for messages, such as ECONNRESET. */
export function faultCode(error: unknown): string {
  const code = codeOf(error);
  return typeof code === 'string' ? code : 'no code';
}
