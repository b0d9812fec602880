import { nearestName } from './nearest-name.ts';

/** Names so short are near too many others. */
const leastLength = 8;
const maxEdits = 3;
const ownPrefix = 'LECTERN_';

/**
 * Returns a sentence for each variable that looks like a setting and is none: one that is nearly spelt like a setting,
 * or begins with LECTERN_. Values are not looked at.
 *
 * @param variables the names in an environment.
 * @param settings the names that there are.
 */
export function warnOfUnknownSettings(variables: readonly string[], settings: readonly string[]): string[] {
  const known = new Set(settings);
  const candidates = settings.filter((setting) => setting.length >= leastLength);
  return variables
    .filter((name) => !known.has(name))
    .flatMap((name) => {
      const nearest = nearestName(name, candidates, () => maxEdits);
      if (nearest !== null)
        return [`${name} is not a Lectern setting and is ignored. Did you mean ${nearest}?`];
      return name.startsWith(ownPrefix) ? [`${name} is not a Lectern setting and is ignored.`] : [];
    });
}
