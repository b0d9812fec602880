/**
 * The design tokens of all pages: the player, notices, launches, the lesson picker, the start page and the API
 * reference. Each is a CSS custom property `--lectern-<name>`.
 */

/** The color schemes. Without one, pages follow the device. */
export const schemes = ['light', 'dark'] as const;
export type Scheme = (typeof schemes)[number];

/** Returns a color scheme; undefined for anything else. */
export function readScheme(value: unknown): Scheme | undefined {
  return schemes.find((scheme) => scheme === value);
}

/** The attribute of the root element that selects a scheme. */
export const schemeAttribute = 'data-lectern-scheme';

const light = {
  page: '#ffffff',
  text: '#1f2933',
  'text-strong': '#111922',
  'text-muted': '#56626f',
  line: '#dbe1e8',
  'line-strong': '#7b8896',
  surface: '#f6f8fa',
  field: '#ffffff',
  accent: '#125e8a',
  'accent-strong': '#0d4a6e',
  'on-accent': '#ffffff',
  'accent-soft': '#e8f2f8',
  right: '#1a6b43',
  'right-soft': '#e9f5ee',
  wrong: '#a8322b',
  'wrong-soft': '#fcefed',
  partly: '#7f5700',
};

export type ColorToken = keyof typeof light;
export type Palette = Record<ColorToken, string>;

const dark: Palette = {
  page: '#12171d',
  text: '#d8dee6',
  'text-strong': '#f2f5f8',
  'text-muted': '#9fabb8',
  line: '#333d48',
  'line-strong': '#77838f',
  surface: '#1b222a',
  field: '#11171d',
  accent: '#7fc1ea',
  'accent-strong': '#a9d6f2',
  'on-accent': '#07202f',
  'accent-soft': '#172a37',
  right: '#7bd0a1',
  'right-soft': '#152a20',
  wrong: '#f2a099',
  'wrong-soft': '#311d1c',
  partly: '#e6bd62',
};

export const palettes: Record<Scheme, Palette> = { light, dark };

const text = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const display = "'Iowan Old Style', 'Palatino Linotype', Palatino, 'Noto Serif', Georgia, ui-serif, serif";
const mono = "ui-monospace, 'Cascadia Mono', Menlo, Consolas, monospace";

export const fontStacks = { text, display, mono };

/** Reads no properties of other constants, so that esbuild leaves it out of scripts that use no tokens. */
const others = {
  font: text,
  'font-display': display,
  'font-mono': mono,
  measure: '40rem',
  space: '1.5rem',
  radius: '0.625rem',
};

/** The custom properties of all tokens, without `--lectern-scheme`. */
export const tokenNames = Object.keys({ ...light, ...others }).map((name) => `--lectern-${name}`);

/** Returns declarations of custom properties. */
export function declarations(tokens: Readonly<Record<string, string>>): string {
  return Object.entries(tokens)
    .map(([name, value]) => `--lectern-${name}:${value};`)
    .join('');
}

/**
 * Returns rules that set tokens on the root element, for light and dark pages.
 *
 * @param tokens common ones, and those of each scheme
 * @param isDefault whether the rules have no specificity, so that any page can override them
 */
export function schemeRules(
  tokens: { both: Record<string, string> } & Record<Scheme, Record<string, string>>,
  { isDefault }: { isDefault: boolean },
): string {
  const rule = (selector: string, set: Record<string, string>) =>
    `${isDefault ? `:where(${selector})` : selector}{${declarations(set)}}`;
  const isDark = `:root[${schemeAttribute}='dark']`;
  return [
    rule(':root', { ...tokens.both, ...tokens.light }),
    // On paper, dark pages are light.
    `@media screen and (prefers-color-scheme:dark){${rule(`:root:not([${schemeAttribute}='light'])`, tokens.dark)}}`,
    `@media screen{${rule(isDark, tokens.dark)}}`,
  ].join('\n');
}

/** Returns the rules of all tokens. `--lectern-scheme` is the value of `color-scheme`. */
export function tokensCss(): string {
  return [
    schemeRules({ both: { ...others, scheme: 'light dark' }, light, dark }, { isDefault: true }),
    ...schemes.map((scheme) => `:where(:root[${schemeAttribute}='${scheme}']){--lectern-scheme:${scheme};}`),
    '@media print{:where(:root){--lectern-scheme:light;}}',
  ].join('\n');
}
