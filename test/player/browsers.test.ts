import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { CompatStatement, Identifier, SimpleSupportStatement } from '@mdn/browser-compat-data';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { packageRoot } from '../../shared/platform/paths.ts';

/*
 * Browsers that run the player, as in docs/player.md and in player/build.ts. MDN's data say what they lack. A browser that
 * lacks it fails the test, unless the lists below say why the pages work without it.
 */

const browsers = { chrome: 100, edge: 100, firefox: 100, safari: 15.4, safari_ios: 15.4 } as const;

/** The interfaces of the DOM whose members the player uses. Members of rarer ones have the same names as our own. */
const interfaces =
  /^(AbortController|AbortSignal|Animation|Blob|CSSStyleSheet|CustomEvent|DOMRect|DOMTokenList|Document|Element|Event|EventTarget|File|HTML\w+|History|IntersectionObserver|KeyboardEvent|Location|MessageEvent|MessagePort|MouseEvent|Navigator|Node|NodeList|PointerEvent|Range|ResizeObserver|Response|Request|Selection|ShadowRoot|Storage|URL|URLSearchParams|Window|_globals)$/;

const usedWithCare: Record<string, string> = {
  adoptedStyleSheets: 'addStyles has another way',
  replaceSync: 'addStyles has another way',
  requestFullscreen: 'presentations are large without it',
  exitFullscreen: 'only called in full screen',
  captureStackTrace: 'zod looks whether it is there',
  userActivation: 'the press is not checked without it',
  check: 'a method of questions',
  lock: 'a method of our drag code',
  unlock: 'a method of our drag code',
  move: 'a method of Ordering',
  adopt: 'a method of the save queue',
  drop: 'a method of our drag code',
  escape: 'CSS.escape, which all of them have',
  bytes: 'a property of our messages',
  restore: 'a method of questions',
  moveBefore: 'checked first; the editor loads the frames of moved widgets again without it',
  viewport: 'a message',
};

const niceToHave: Record<string, string> = {
  ':fullscreen': 'presentations are large without full screen',
  ':has': 'marks rows whose inputs show the same',
  '@container': 'narrow layouts',
  'break-after': 'a heading that ends a sheet of paper',
  '@media forced-colors': 'Safari has no such mode',
  'color-mix()': 'has another color before it',
  cursor: 'phones have none',
  display: 'browsers without MathML show formulas in lines',
  'container-type': 'without it, widths depend on the window: --lectern-cqi',
  'field-sizing': 'a textarea that grows',
  'font-family': 'has other fonts before it',
  'font-size-adjust': 'changes formulas only where a page sets it',
  'forced-color-adjust': 'Safari has no such mode',
  lh: 'has another length before it',
  outline: 'square corners',
  'math-shift': 'the height of exponents in roots',
  'overscroll-behavior': 'scrolls on',
  'place-self': 'the position of a label on a picture',
  'print-color-adjust': 'the lines of formulas on paper',
  resize: 'a textarea that learners resize',
  'scrollbar-width': 'wider scroll bars',
  'text-size-adjust': 'phones only',
  'text-wrap': 'ragged titles',
};

/**
 * Returns whether one of the browsers lacks a feature.
 *
 * @param allowsPrefix whether a prefixed form is enough, as in stylesheets, which contain both forms
 */
function isTooNew(feature: CompatStatement | undefined, allowsPrefix = true): boolean {
  if (feature === undefined) return false;
  return Object.entries(browsers).some(([browser, version]) => {
    const support = feature.support[browser as keyof typeof browsers];
    if (support === undefined) return false;
    return ![support]
      .flat()
      .some((statement) => (allowsPrefix || statement.prefix === undefined) && isSince(statement, version));
  });
}

function isSince(
  { version_added: added, version_removed: removed, flags, alternative_name: alias }: SimpleSupportStatement,
  version: number,
): boolean {
  if (removed !== undefined || flags !== undefined || alias !== undefined) return false;
  // Versions such as 15.4 and 15.10 do not occur together.
  return typeof added === 'string' && Number.parseFloat(added.replace('≤', '')) <= version;
}

// An import would be compiled to a module of 15 MB.
const compatibility: unknown = createRequire(import.meta.url)('@mdn/browser-compat-data');
const { api, css, javascript } = compatibility as Record<'api' | 'css' | 'javascript', Identifier> &
  Record<'javascript', { builtins: Identifier }>;
const objects = { ...api, ...(javascript as { builtins: Identifier }).builtins };

const { properties, selectors, types, 'at-rules': rules } = css as Record<string, Identifier>;

/** The features that a property of this name may be. */
const membersByName = new Map<string, CompatStatement[]>();
for (const [name, members] of Object.entries(objects)) {
  if (name in api && !interfaces.test(name)) continue;
  for (const [member, { __compat: feature }] of Object.entries(members as Record<string, Identifier>)) {
    const key = member.replace(/_(static|event)$/, '');
    if (feature) membersByName.set(key, [...(membersByName.get(key) ?? []), feature]);
  }
}

/** Returns the features of a script that a browser lacks. */
function tooNewInScript(source: string): string[] {
  const found = new Set<string>();
  const file = ts.createSourceFile('x.js', source, ts.ScriptTarget.ES2022, true, ts.ScriptKind.JS);
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node)) {
      const { name, expression } = node;
      const features = membersByName.get(name.text);
      if (features?.every((feature) => isTooNew(feature, false))) found.add(name.text);
      const property = name.text.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      const isStyle = ts.isPropertyAccessExpression(expression) && expression.name.text === 'style';
      if (isStyle && isTooNew(properties?.[property]?.__compat)) found.add(name.text);
      const members = ts.isIdentifier(expression) ? objects[expression.text] : undefined;
      const own =
        members?.[`${name.text}_static`] ??
        (members && Object.hasOwn(members, name.text) && members[name.text]);
      if (own && isTooNew(own.__compat, false)) found.add(name.text);
    } else if (ts.isIdentifier(node) && isGlobal(node)) {
      if (Object.hasOwn(objects, node.text) && isTooNew(objects[node.text]?.__compat)) found.add(node.text);
    } else if (ts.isRegularExpressionLiteral(node) && /\(\?<[=!]|\/\w*v\w*$/.test(node.text)) {
      found.add(node.text);
    } else if (ts.isCallExpression(node) && isSelection(node)) {
      for (const [, name = ''] of node.arguments[0]?.getText(file).matchAll(/:([a-z-]+)/g) ?? []) {
        if (isTooNew(selectors?.[name]?.__compat, false)) found.add(`:${name}`);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  // esbuild moves expressions that a browser cannot parse into strings.
  if (/RegExp\(["'`][^"'`]*\(\?<[=!]/.test(source)) found.add('lookbehind');
  return [...found].filter((name) => !(name in usedWithCare));
}

function isGlobal({ parent }: ts.Identifier): boolean {
  return (
    (ts.isNewExpression(parent) || ts.isCallExpression(parent)) &&
    parent.expression.kind === ts.SyntaxKind.Identifier
  );
}

/** Returns whether a call has a selector, which throws if the browser does not know it. */
function isSelection({ expression }: ts.CallExpression): boolean {
  return (
    ts.isPropertyAccessExpression(expression) &&
    /^(matches|closest|querySelector(All)?)$/.test(expression.name.text)
  );
}

/** Returns the features of a stylesheet that a browser lacks. */
function tooNewInStyles(source: string): string[] {
  const found = new Set<string>();
  const add = (name: string, feature: CompatStatement | undefined) => isTooNew(feature) && found.add(name);
  for (const [, name = '', value = ''] of source.matchAll(/[{;]([a-z-]+):([^;{}]+)/g)) {
    const property = properties?.[name];
    add(name, property?.__compat);
    for (const [word] of value.matchAll(/[a-z][a-z-]+/g)) add(name, property?.[word]?.__compat);
    for (const [, called = ''] of value.matchAll(/([a-z-]+)\(/g)) {
      add(`${called}()`, types?.[called]?.__compat ?? types?.color?.[called]?.__compat);
    }
    for (const [, unit = ''] of value.matchAll(/\d([a-z]{2,})\b/g))
      add(unit, types?.length?.[unit]?.__compat);
  }
  for (const [, name = ''] of source.matchAll(/@([a-z-]+)/g)) add(`@${name}`, rules?.[name]?.__compat);
  for (const [, name = ''] of source.matchAll(/@media[^{]*?\(([a-z-]+)/g)) {
    add(`@media ${name}`, rules?.media?.[name]?.__compat);
  }
  for (const [, name = ''] of source.matchAll(/::?([a-z-]+)(?=[^{};]*\{)/g)) {
    add(`:${name}`, selectors?.[name]?.__compat);
  }
  return [...found].filter((name) => !(name in niceToHave));
}

test('the check finds what a browser of the support table lacks', () => {
  expect(
    tooNewInScript(
      'a.toSorted(); Object.groupBy(b); /(?<=c)d/.test(e); f.at(-1); i.style.translate = j; Object.hasOwn(g, "h"); k.matches(":fullscreen"); l.exitFullscreen()',
    ),
  ).toEqual(['toSorted', 'groupBy', '/(?<=c)d/', 'translate', ':fullscreen']);
  expect(tooNewInStyles('a:dir(rtl){rotate:90deg;inset:0;color:oklch(0 0 0)}@layer b{c{d:1rlh}}')).toEqual(
    expect.arrayContaining(['rotate', ':dir', 'oklch()']),
  );
});

test('no built script or stylesheet needs more than the browsers of the support table have', async () => {
  const found: Record<string, string[]> = {};
  for (const folder of ['player', 'widgets']) {
    const path = join(packageRoot, 'player/dist', folder);
    for (const name of await readdir(path)) {
      // The frame's document has the same code.
      if (/^player(\.classic)?\.js$/.test(name)) continue;
      const text = (await readFile(join(path, name), 'utf8')).replace(/\/\*[^]*?\*\//g, '');
      const [, style = name.endsWith('.css') ? text : ''] =
        /<style>([^]*)<\/style>/.exec(text) ?? /,css:("(?:[^"\\]|\\.)*")\};\n$/.exec(text) ?? [];
      const [, script = name.endsWith('.js') ? text : ''] =
        /<script type="module">([^]*)<\/script>/.exec(text) ?? [];
      const missing = [...tooNewInScript(script), ...tooNewInStyles(style)];
      if (missing.length > 0) found[`${folder}/${name}`] = missing;
    }
  }
  expect(found).toEqual({});
});
