/** A text, and the name of its encoding for people. */
export interface DecodedText {
  text: string;
  encoding: string;
}

// oxlint-disable-next-line no-control-regex -- the expression searches for them
const binary = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;

/** Decodes a text in UTF-8, UTF-16 or Windows-1252, without its byte order mark; null for bytes that are no text. */
export function decodeText(bytes: Uint8Array): DecodedText | null {
  for (const [label, encoding] of encodingsOf(bytes)) {
    try {
      const text = new TextDecoder(label, { fatal: true }).decode(bytes);
      if (!binary.test(text)) return { text, encoding };
    } catch {
      // Not in this encoding.
    }
  }
  return null;
}

/** Returns the encodings in which bytes may be text, with their names for people. */
function encodingsOf([first, second]: Uint8Array): [string, string][] {
  if (first === 0xff && second === 0xfe) return [['utf-16le', 'UTF-16']];
  if (first === 0xfe && second === 0xff) return [['utf-16be', 'UTF-16']];
  if (first === 0) return [['utf-16be', 'UTF-16']];
  if (second === 0) return [['utf-16le', 'UTF-16']];
  return [
    ['utf-8', 'UTF-8'],
    ['windows-1252', 'Windows-1252'],
  ];
}
