/**
 * Control characters but line breaks and tabs, and those that turn the direction of text. They come from titles, names
 * and addresses that others wrote, and could rewrite what a terminal shows, or make it do something.
 */
// eslint-disable-next-line no-control-regex -- it is what is looked for
const unprintable = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns a text as it may stand in a terminal, with such characters written out: `\u001b`. */
export function printable(text: string): string {
  return text.replace(
    unprintable,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
