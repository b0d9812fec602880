import { randomClientId, hexId, randomText } from './model.ts';
import type { Tool } from './model.ts';
import type { Platform } from './platform.ts';
import { allScopes } from './vocabulary.ts';

export type ToolDetails = Pick<Tool, 'loginUrl' | 'redirectUris' | 'jwksUrl' | 'targetLinkUri'> &
  Partial<Tool>;

/** Registers a tool, by default with all scopes and one deployment. */
export function addTool(platform: Platform, details: ToolDetails): Tool {
  const number = platform.tools.size + 1;
  const tool = {
    clientId: randomClientId(),
    name: `Tool ${number}`,
    // With a colon, like Canvas's deployment ids.
    deploymentIds: [`${number}:${hexId()}`],
    deepLinkUrl: null,
    custom: {},
    scopes: allScopes,
    placements: null,
    ...details,
  };
  platform.tools.set(tool.clientId, tool);
  return tool;
}

/** Returns a tool's registration URL with a query that invites it to register once, within an hour. */
export function invitationUrl(platform: Platform, toolUrl: string): string {
  const token = randomText();
  platform.registrationTokens.set(token, { clientId: null });
  const url = new URL(toolUrl);
  url.searchParams.set('openid_configuration', platform.urls.configuration);
  url.searchParams.set('registration_token', token);
  return url.href;
}
