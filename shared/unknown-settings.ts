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
        return [`${name} is no setting of Lectern and is ignored. Did you mean ${nearest}?`];
      return name.startsWith(ownPrefix) ? [`${name} is no setting of Lectern and is ignored.`] : [];
    });
}

function nearestOf(name: string, settings: readonly string[]): string | null {
  let nearest: string | null = null;
  let fewest = mostEdits + 1;
  for (const setting of settings) {
    if (setting.length < leastLength || Math.abs(setting.length - name.length) >= fewest) continue;
    const edits = editsBetween(name.toUpperCase(), setting);
    if (edits < fewest) [nearest, fewest] = [setting, edits];
  }
  return nearest;
}

/** The Levenshtein distance: how many characters have to be added, removed or changed. */
function editsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, character] of [...one].entries()) {
    const next = [index + 1];
    for (const [at, wanted] of [...other].entries()) {
      const changed = (row[at] ?? 0) + (character === wanted ? 0 : 1);
      next.push(Math.min(changed, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
