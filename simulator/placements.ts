import { messageTypes } from '../shared/lti/claims.ts';
import type { PlacementMessage, Tool } from './model.ts';
import { Rejection } from './http.ts';

/** Canvas's names of the placements where teachers choose content: for assignments, in modules, in the editor. */
export const canvasPlacements = ['assignment_selection', 'link_selection', 'editor_button'] as const;

/** Names of the standard, and of Canvas's own with a prefix. */
const otherNames: Readonly<Record<string, string>> = {
  ContentArea: 'link_selection',
  RichTextEditor: 'editor_button',
};
const prefix = 'https://canvas.instructure.com/lti/';

/** A message of a tool's registration. */
export interface RegisteredMessage {
  type: string;
  target_link_uri?: string | undefined;
  placements?: readonly string[] | undefined;
}

/**
 * Returns the message of each placement, as Canvas does: a message without placements gets `link_selection`, and each
 * placement keeps the first message that names it.
 */
export function placementsOf(
  messages: readonly RegisteredMessage[],
  targetLinkUri: string,
): Map<string, PlacementMessage> {
  const placements = new Map<string, PlacementMessage>();
  for (const { type, target_link_uri: target = targetLinkUri, placements: named = [] } of messages) {
    for (const given of named.length === 0 ? ['link_selection'] : named) {
      const name = otherNames[given] ?? given.replace(prefix, '');
      const isKnown = canvasPlacements.some((known) => known === name);
      if (isKnown && !placements.has(name)) placements.set(name, { type, targetLinkUri: target });
    }
  }
  return placements;
}

/** Returns what a placement sends. @throws {Rejection} if the platform does not show the tool there. */
export function messageOfPlacement(tool: Tool, placement: string): PlacementMessage {
  const { placements, deepLinkUrl, targetLinkUri } = tool;
  if (placements === null) {
    return { type: messageTypes.deepLinking, targetLinkUri: deepLinkUrl ?? targetLinkUri };
  }
  const message = placements.get(placement);
  if (message !== undefined) return message;
  throw new Rejection(400, 'invalid_request', `The tool has no placement ${placement}.`);
}
