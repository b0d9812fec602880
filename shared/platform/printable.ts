/**
 * Control characters, except line breaks and tabs, and characters that change the direction of text. In titles, names
 * and URLs of others, they could send commands to the terminal or falsify its output.
 */
// eslint-disable-next-line no-control-regex -- the pattern matches control characters
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Escapes such characters for output in a terminal: `\u001b`. */
export function printable(text: string): string {
  return text.replace(
    unprintable,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
