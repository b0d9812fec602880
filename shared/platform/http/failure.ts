import { codeOf } from '../errors.ts';

export type OutboundFault = 'blocked_address' | 'timeout' | 'network';

/** A foreign host gave no answer. The message names the host, never a whole URL: those carry signatures. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly reason: OutboundFault;

  constructor(reason: OutboundFault, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The code of a fault in the network or below it, such as ECONNRESET; for messages. */
export function faultCode(error: unknown): string {
  const code = codeOf(error);
  return typeof code === 'string' ? code : 'no code';
}
