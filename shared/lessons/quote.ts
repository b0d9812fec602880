/**
 * Foreign text inside a message for people: in double quotes, cut at `maxLength` characters, with everything
 * escaped that a terminal would obey (control and format characters, lone surrogates) instead of showing it.
 */
export function quote(text: string, maxLength = 80): string {
  const cut = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return JSON.stringify(cut).replace(unprintable, (character) => {
    const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
}

const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu;
