import leven from 'leven';

/** Names so short are near too many others. */
const leastLength = 8;
const mostEdits = 3;
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
  return variables
    .filter((name) => !known.has(name))
    .flatMap((name) => {
      const nearest = nearestOf(name, settings);
      if (nearest !== null)
        return [`${name} is not a Lectern setting and is ignored. Did you mean ${nearest}?`];
      return name.startsWith(ownPrefix) ? [`${name} is not a Lectern setting and is ignored.`] : [];
    });
}

function nearestOf(name: string, settings: readonly string[]): string | null {
  let nearest: string | null = null;
  let fewest = mostEdits + 1;
  for (const setting of settings) {
    if (setting.length < leastLength || Math.abs(setting.length - name.length) >= fewest) continue;
    const edits = leven(name.toUpperCase(), setting);
    if (edits < fewest) [nearest, fewest] = [setting, edits];
  }
  return nearest;
}
