import { LecternError } from '../../shared/platform/errors.ts';
import type { ErrorCode } from '../../shared/platform/errors.ts';

interface Fault {
  error: ErrorCode;
  title: string;
  text: string;
}

const invitation = 'Ask the operator of Lectern for a new one: lectern platform invite.';
const again = 'Nothing was changed: you can start the registration again with the same URL.';
const byHand = 'Ask the operator of Lectern to connect the platform by hand: lectern platform add.';

/** The reasons for a failed registration, by the code that the page shows. The texts are for administrators. */
export const registrationFaults = {
  registration_incomplete: {
    error: 'BAD_REQUEST',
    title: 'This URL is for a learning platform',
    text: 'An administrator enters it in the platform, under dynamic registration (LTI 1.3). The platform then opens this page.',
  },
  invitation_unknown: {
    error: 'NOT_FOUND',
    title: 'This invitation does not exist',
    text: `Check that you entered the whole URL. ${invitation}`,
  },
  invitation_expired: { error: 'FORBIDDEN', title: 'This invitation has expired', text: invitation },
  invitation_used: {
    error: 'CONFLICT',
    title: 'This invitation has been used',
    text: `A platform has registered with it. ${invitation}`,
  },
  registration_under_way: {
    error: 'CONFLICT',
    title: 'A registration with this invitation is in progress',
    text: 'If it was interrupted, start it again in two minutes. The platform may then have two entries for Lectern: remove the older one there.',
  },
  address_refused: {
    error: 'BAD_REQUEST',
    title: 'Lectern cannot use the URLs of this platform',
    text: `They must be https URLs with public IP addresses. The operator of Lectern can allow others with LECTERN_ALLOWED_PRIVATE_HOSTS. ${again}`,
  },
  configuration_unavailable: {
    error: 'BAD_GATEWAY',
    title: 'The platform does not respond',
    text: `Lectern could not fetch the platform's configuration. ${again}`,
  },
  configuration_invalid: {
    error: 'BAD_GATEWAY',
    title: 'The platform’s configuration is incomplete',
    text: `It lacks something that LTI 1.3 needs. ${byHand}`,
  },
  issuer_mismatch: {
    error: 'FORBIDDEN',
    title: 'The platform names another issuer',
    text: `Its issuer and its configuration are on different domains. ${byHand}`,
  },
  registration_refused: {
    error: 'BAD_GATEWAY',
    title: 'The platform has rejected the registration',
    text: `Look for the reason in the platform. ${again}`,
  },
  registration_unclear: {
    error: 'BAD_GATEWAY',
    title: 'The platform has not confirmed the registration',
    text: 'If it lists Lectern now, remove that entry there. Then you can start the registration again with the same URL.',
  },
  already_registered: {
    error: 'CONFLICT',
    title: 'This platform is registered already',
    text: 'Lectern has a platform with this issuer, client and deployment. The operator of Lectern can list it: lectern platform list.',
  },
  too_many_requests: {
    error: 'TOO_MANY_REQUESTS',
    title: 'Too many requests',
    text: 'Wait a minute, then start the registration again.',
  },
  server_error: {
    error: 'INTERNAL_ERROR',
    title: 'Something went wrong',
    text: 'The fault is Lectern’s. Wait two minutes, then start the registration again with the same URL. If the platform then lists Lectern twice, remove the older entry there.',
  },
} satisfies Record<string, Fault>;
export type RegistrationFaultCode = keyof typeof registrationFaults;

export class RegistrationFault extends LecternError {
  readonly fault: RegistrationFaultCode;
  /** The invalid value, for the log. It must hold no secrets. */
  readonly detail: string;

  constructor(fault: RegistrationFaultCode, detail = '', cause?: unknown) {
    super(registrationFaults[fault].error, fault, { cause });
    this.fault = fault;
    this.detail = detail.slice(0, 500);
  }
}

/** Returns the code that the page of a failure shows. */
export function registrationFaultOf(failure: LecternError): RegistrationFaultCode {
  if (failure instanceof RegistrationFault) return failure.fault;
  if (failure.code === 'TOO_MANY_REQUESTS') return 'too_many_requests';
  return failure.expose ? 'registration_incomplete' : 'server_error';
}
