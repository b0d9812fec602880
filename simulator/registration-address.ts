import { randomText } from './ids.ts';
import type { Platform } from './platform.ts';

export interface RegistrationAddress {
  /** The tool's address, for a browser. */
  url: string;
  /** Good for one registration, within an hour. */
  token: string;
}

/** Invites a tool to register: its own address, with what the standard adds to the query. */
export function registrationAddress(platform: Platform, toolUrl: string): RegistrationAddress {
  const token = randomText();
  platform.registrationTokens.set(token, { clientId: null });
  const url = new URL(toolUrl);
  url.searchParams.set('openid_configuration', platform.addresses.configuration);
  url.searchParams.set('registration_token', token);
  return { url: url.href, token };
}
