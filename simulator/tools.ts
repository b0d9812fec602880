import { clientIdOf, hexId, randomText } from './ids.ts';
import type { Tool } from './model.ts';
import type { Platform } from './platform.ts';
import { allScopes } from './vocabulary.ts';

export type ToolDetails = Pick<Tool, 'loginUrl' | 'redirectUris' | 'jwksUrl' | 'targetLinkUri'> &
  Partial<Tool>;

/** Registers a tool, with all scopes and one deployment unless told otherwise. */
export function addTool(platform: Platform, details: ToolDetails): Tool {
  const number = platform.tools.size + 1;
  const tool = {
    clientId: clientIdOf(),
    name: `Tool ${number}`,
    // As Canvas has them, with a colon.
    deploymentIds: [`${number}:${hexId()}`],
    deepLinkUrl: null,
    custom: {},
    scopes: allScopes,
    ...details,
  };
  platform.tools.set(tool.clientId, tool);
  return tool;
}

interface RegistrationAddress {
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
