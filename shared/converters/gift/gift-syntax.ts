/** A question as it is written, with escapes as they are. */
export interface GiftQuestion {
  kind: 'question';
  /** The number of its first line. */
  line: number;
  title: string | null;
  /** `html`, `markdown`, `plain` or `moodle`. */
  format: string;
  before: string;
  /** The text in braces; null for a description. */
  answers: string | null;
  after: string;
}

export type GiftItem =
  | GiftQuestion
  | { kind: 'category'; line: number; title: string }
  | { kind: 'fault'; line: number; fault: string };

/** Returns whether a text has a question with answers, or a category, as GIFT writes them. */
export function looksLikeGift(text: string): boolean {
  if (/^[ \t]*\$CATEGORY:/m.test(text) || /^[ \t]*::[^\n]*?::/m.test(text)) return true;
  for (const [, answers = ''] of text.matchAll(/(?<!\\)\{([^{}]*)(?<!\\)\}/g)) {
    if (/^\s*(?:[=~#]|(?:T|TRUE|F|FALSE)\b|$)/i.test(answers)) return true;
  }
  return false;
}

/** Yields the questions and categories of a GIFT file. Blank lines divide them. */
export function* itemsIn(text: string): Generator<GiftItem> {
  const lines = text.split('\n').map((line) => (/^\s*\/\//.test(line) ? null : line));
  for (let at = 0; at < lines.length;) {
    const line = lines[at];
    if (line === null || line === undefined || line.trim() === '') {
      at += 1;
      continue;
    }
    const category = /^\$CATEGORY:(.*)$/.exec(line.trim());
    if (category !== null) {
      yield { kind: 'category', line: at + 1, title: categoryTitle((category[1] ?? '').trim()) };
      at += 1;
      continue;
    }
    const end = endOfQuestion(lines, at);
    const written = lines.slice(at, end).filter((one) => one !== null);
    yield parseQuestion(written.join('\n').trim(), at + 1);
    at = end;
  }
}

/** Returns the last part of a category's path, such as `$course$/top/Tides/Moon`. */
export function categoryTitle(path: string): string {
  // A double slash is a slash in a name.
  const parts = path
    .replaceAll('//', '\0')
    .split('/')
    .map((part) => part.replaceAll('\0', '/').trim());
  const named = parts.filter((part) => part !== '' && part !== 'top' && !/^\$\w+\$$/.test(part));
  return named.at(-1) ?? path;
}

/** A question ends before a blank line, or where its answers go on after one. */
function endOfQuestion(lines: readonly (string | null)[], from: number): number {
  let open = 0;
  for (let at = from; at < lines.length; at += 1) {
    const line = lines[at];
    if (line === null || line === undefined) continue;
    if (line.trim() === '') {
      const next = lines.slice(at).find((one) => one !== null && one.trim() !== '');
      if (open > 0 && next !== undefined && next !== null && /^\s*(?:[=~#}]|->)/.test(next)) continue;
      return at;
    }
    open += [...line.matchAll(/(?<!\\)[{}]/g)].reduce((sum, [brace]) => sum + (brace === '{' ? 1 : -1), 0);
  }
  return lines.length;
}

function parseQuestion(written: string, line: number): GiftItem {
  const titled = /^::((?:[^:\\]|\\.|:(?!:))*)::\s*/s.exec(written);
  const rest = titled === null ? written : written.slice(titled[0].length);
  const formatted = /^\[(html|markdown|plain|moodle)\]\s*/i.exec(rest);
  const text = formatted === null ? rest : rest.slice(formatted[0].length);
  const [first] = unescaped(text, '{');
  const last = unescaped(text, '}').at(-1);
  if ((first === undefined) !== (last === undefined) || (first ?? 0) > (last ?? 0)) {
    return {
      kind: 'fault',
      line,
      fault: `has a brace without its partner; write \\{ and \\} for braces in a text`,
    };
  }
  return {
    kind: 'question',
    line,
    title: titled?.[1] === undefined ? null : unescape(titled[1]).trim(),
    format: formatted?.[1]?.toLowerCase() ?? 'moodle',
    before: text.slice(0, first).trim(),
    answers: first === undefined ? null : text.slice(first + 1, last).trim(),
    after: last === undefined ? '' : text.slice(last + 1).trim(),
  };
}

function unescaped(text: string, character: string): number[] {
  const found: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === character) found.push(at);
  }
  return found;
}

/** Divides a text before each of these characters that is not escaped. */
export function divide(text: string, characters: string): string[] {
  const parts: string[] = [''];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    if (character === '\\') {
      parts[parts.length - 1] += text.slice(at, at + 2);
      at += 1;
    } else if (characters.includes(character)) parts.push(character);
    else parts[parts.length - 1] += character;
  }
  return parts;
}

/** Divides a text at the first separator that is not escaped; the second part is null without one. */
export function splitOnce(text: string, separator: string): [string, string | null] {
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text.startsWith(separator, at)) return [text.slice(0, at), text.slice(at + separator.length)];
  }
  return [text, null];
}

/** Returns a text without the backslashes of GIFT. Others, as in TeX, stay. */
export function unescape(text: string): string {
  return text.replaceAll(/\\([:#={}~n\\])/g, (_, character: string) =>
    character === 'n' ? '\n' : character,
  );
}
