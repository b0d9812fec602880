/**
 * The modules that player.js shares with the widgets that it loads on demand, by their paths in the repository:
 * player/build.ts leaves them out of those widgets' files.
 */
export const kitModules = [
  'player/define.ts',
  'player/dom.ts',
  'player/html.ts',
  'player/props.ts',
  'player/question/hint.ts',
  'player/question/parts.ts',
  'player/question/question.ts',
  'shared/i18n/message.ts',
  'shared/lessons/json-values.ts',
] as const;

export type KitModule = (typeof kitModules)[number];
