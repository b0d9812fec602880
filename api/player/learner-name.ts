import type { PlayerToken } from '../../shared/tokens/player-tokens.ts';

/** Names a learner's record in one lesson; a preview has none, and is named by its link. */
export function learnerName(token: PlayerToken): string {
  const { kind, organizationId, lessonId } = token;
  return JSON.stringify([kind, organizationId, lessonId, ...learnerOf(token)]);
}

function learnerOf(token: PlayerToken): (string | number | null)[] {
  switch (token.kind) {
    case 'embed':
      return [token.learnerId];
    case 'launch':
      return [token.platformId, token.contextId, token.ltiUserId];
    case 'preview':
      return [token.versionId, token.issuedAt];
  }
}
