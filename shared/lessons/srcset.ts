/**
 * Replaces the URL of each image candidate of a `srcset`, as the HTML Standard splits it; null when none changes.
 * Scans the text once: the time of a regular expression would grow with the square of the text.
 */
export function replaceCandidates(value: string, replace: (url: string) => string | null): string | null {
  let replaced = '';
  let changes = false;
  let copied = 0;
  for (let at = 0; at < value.length;) {
    if (isSpace(value[at]) || value[at] === ',') {
      at += 1;
      continue;
    }
    const start = at;
    while (at < value.length && !isSpace(value[at])) at += 1;
    let end = at;
    while (value[end - 1] === ',') end -= 1;
    const replacement = replace(value.slice(start, end));
    if (replacement !== null) {
      replaced += value.slice(copied, start) + replacement;
      copied = end;
      changes = true;
    }
    // A comma directly after the URL ends the candidate. Otherwise its descriptors follow.
    if (end === at) at = endOfDescriptors(value, at);
  }
  return changes ? replaced + value.slice(copied) : null;
}

function endOfDescriptors(value: string, start: number): number {
  let isInParentheses = false;
  for (let at = start; at < value.length; at += 1) {
    if (value[at] === '(') isInParentheses = true;
    else if (value[at] === ')') isInParentheses = false;
    else if (value[at] === ',' && !isInParentheses) return at;
  }
  return value.length;
}

function isSpace(character: string | undefined): boolean {
  return character !== undefined && ' \t\n\f\r'.includes(character);
}
