/** Returns text for XML, between tags or in an attribute, without the characters that XML forbids. */
export function escapeXml(text: string): string {
  return [...text]
    .filter((character) => isXmlCharacter(character.codePointAt(0) ?? 0))
    .join('')
    .replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Returns the first `maxCharacters` characters of a text, escaped for XML. */
export function shortXml(text: string, maxCharacters: number): string {
  return escapeXml([...text].slice(0, maxCharacters).join(''));
}

/** XML 1.0, production 2. */
function isXmlCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || code >= 0x10000;
}
