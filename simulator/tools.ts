import { hexId, clientIdOf } from './ids.ts';
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
