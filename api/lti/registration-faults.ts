import { LecternError } from '../../shared/platform/errors.ts';
import type { ErrorCode } from '../../shared/platform/errors.ts';

interface Fault {
  error: ErrorCode;
  title: string;
  text: string;
}

const invitation = 'Ask the operator of Lectern for a new one: lectern platform invite.';
const again = 'Nothing was changed: you can start the registration again with the same address.';
const byHand = 'Ask the operator of Lectern to connect the platform by hand: lectern platform add.';

/** What keeps a platform from registering itself, by the code that the page shows. Administrators read it. */
export const registrationFaults = {
  registration_incomplete: {
    error: 'BAD_REQUEST',
    title: 'This address is for a learning platform',
    text: 'An administrator enters it in the platform, where tools are registered by dynamic registration (LTI 1.3). The platform then opens this page itself.',
  },
  invitation_unknown: {
    error: 'NOT_FOUND',
    title: 'This invitation does not exist',
    text: `See that the whole address was entered. ${invitation}`,
  },
  invitation_expired: { error: 'FORBIDDEN', title: 'This invitation has expired', text: invitation },
  invitation_used: {
    error: 'CONFLICT',
    title: 'This invitation has been used',
    text: `A platform has registered itself with it. ${invitation}`,
  },
  registration_under_way: {
    error: 'CONFLICT',
    title: 'A registration with this invitation is under way',
    text: 'If it was cut off, start it again in two minutes. The platform may then have two entries for Lectern: remove the older one there.',
  },
  address_refused: {
    error: 'BAD_REQUEST',
    title: 'Lectern cannot use the addresses of this platform',
    text: `They have to be public https addresses; the operator of Lectern can allow others with LECTERN_ALLOWED_PRIVATE_HOSTS. ${again}`,
  },
  configuration_unavailable: {
    error: 'BAD_GATEWAY',
    title: 'The platform does not answer',
    text: `Lectern could not fetch the platform's configuration. ${again}`,
  },
  configuration_invalid: {
    error: 'BAD_GATEWAY',
    title: 'The platform’s configuration is not complete',
    text: `Something is missing in it that LTI 1.3 needs. ${byHand}`,
  },
  issuer_mismatch: {
    error: 'FORBIDDEN',
    title: 'The platform speaks for another one',
    text: `Its issuer is at another host than its configuration. ${byHand}`,
  },
  registration_refused: {
    error: 'BAD_GATEWAY',
    title: 'The platform has refused the registration',
    text: `See what the platform says about it. ${again}`,
  },
  registration_unclear: {
    error: 'BAD_GATEWAY',
    title: 'The platform has not confirmed the registration',
    text: 'If it lists Lectern now, remove that entry there. Then you can start the registration again with the same address.',
  },
  already_registered: {
    error: 'CONFLICT',
    title: 'This platform is registered already',
    text: 'Lectern knows a platform of this issuer, client and deployment. The operator of Lectern sees it with: lectern platform list.',
  },
  too_many_requests: {
    error: 'TOO_MANY_REQUESTS',
    title: 'Too many requests',
    text: 'Wait a minute, then start the registration again.',
  },
  server_error: {
    error: 'INTERNAL_ERROR',
    title: 'Something went wrong',
    text: 'The fault is Lectern’s. Wait two minutes, then start the registration again with the same address. If the platform lists Lectern twice then, remove the older entry there.',
  },
} satisfies Record<string, Fault>;
export type RegistrationFaultCode = keyof typeof registrationFaults;

/** A registration is refused, or failed. */
export class RegistrationFault extends LecternError {
  readonly fault: RegistrationFaultCode;
  /** For the log: what it was that did not fit. Nothing secret. */
  readonly detail: string;

  constructor(fault: RegistrationFaultCode, detail = '', cause?: unknown) {
    super(registrationFaults[fault].error, fault, { cause });
    this.fault = fault;
    this.detail = detail.slice(0, 500);
  }
}

/** The code of a page that says why there is no registration. */
export function registrationFaultOf(failure: LecternError): RegistrationFaultCode {
  if (failure instanceof RegistrationFault) return failure.fault;
  if (failure.code === 'TOO_MANY_REQUESTS') return 'too_many_requests';
  return failure.expose ? 'registration_incomplete' : 'server_error';
}
