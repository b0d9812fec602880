import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { settingNames } from '../../shared/platform/config.ts';
import { packageRoot } from '../../shared/platform/paths.ts';

/** Folders whose files the pages name in code style, such as `shared/platform/config.ts`. */
const folders = [
  'api',
  'worker',
  'shared',
  'cli',
  'clients/typescript',
  'player',
  'simulator',
  'test',
  'bench',
  'demo',
  'deploy',
  'docs',
];

/** Paths that an archive, a package or a build has, not the repository. */
const elsewhere = /^(?:player\/dist\/|player\/(?:player|callbacks|archive-page)\b)/;

const texts = new Map<string, string>();
beforeAll(async () => {
  const root = await readdir(packageRoot);
  const guides = await readdir(join(packageRoot, 'docs'), { recursive: true });
  const pages = [
    ...root,
    'bench/README.md',
    'clients/typescript/README.md',
    ...guides.map((name) => join('docs', name)),
  ].filter((name) => name.endsWith('.md'));
  for (const page of pages) texts.set(page, await readFile(join(packageRoot, page), 'utf8'));
});

/** Returns the anchors of a page as GitHub makes them from its headings. */
function anchorsOf(text: string): string[] {
  const prose = text.replaceAll(/^ *```[^]*?^ *```$/gm, '');
  return [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test('every link between pages leads to a file and a heading that exist', () => {
  const broken = [...texts].flatMap(([page, text]) =>
    [...text.replaceAll(/^ *```[^]*?^ *```$/gm, '').matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
      .filter(([, path = '', anchor]) => {
        const target = path === '' ? page : join(dirname(page), path);
        if (!existsSync(join(packageRoot, target))) return true;
        const text = texts.get(target);
        return anchor !== undefined && text !== undefined && !anchorsOf(text).includes(anchor);
      })
      .map(([link]) => `${page}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test('every file and folder that a page names exists', () => {
  const missing = [...texts]
    .filter(([page]) => page !== 'CHANGELOG.md' && !page.startsWith('docs/decisions/'))
    .flatMap(([page, text]) =>
      [...text.matchAll(new RegExp(`\`((?:${folders.join('|')})/[\\w./@-]*[\\w/])\``, 'g'))]
        .map(([, path = '']) => path)
        .filter((path) => !elsewhere.test(path) && !existsSync(join(packageRoot, path)))
        .map((path) => `${page}: ${path}`),
    );
  expect(missing).toEqual([]);
});

test('every page that code, settings and examples refer to exists', async () => {
  const named = await Promise.all(
    folders.map(async (folder) => {
      const files = await readdir(join(packageRoot, folder), { recursive: true, withFileTypes: true });
      const sources = files.filter((file) => file.isFile() && /\.(?:ts|ya?ml|css)$/.test(file.name));
      return Promise.all(
        sources.map(async (file) => {
          const text = await readFile(join(file.parentPath, file.name), 'utf8');
          return text.match(/(?<![\w/])docs\/[a-z\d/-]+\.md/g) ?? [];
        }),
      );
    }),
  );
  const example = await readFile(join(packageRoot, '.env.example'), 'utf8');
  const pages = new Set([...named.flat(2), ...(example.match(/\bdocs\/[a-z\d/-]+\.md/g) ?? [])]);
  expect(pages.size).toBeGreaterThan(3);
  expect([...pages].filter((page) => !texts.has(page))).toEqual([]);
});

test('.env.example and the table of settings have every setting, and no other', async () => {
  const example = await readFile(join(packageRoot, '.env.example'), 'utf8');
  const listed = [...example.matchAll(/^#([A-Z_\d]+)=/gm)].map(([, name]) => name);
  const page = texts.get('docs/operate/settings.md') ?? '';
  const [table = ''] = /^\| Setting .*\n(?:\|.*\n)+/m.exec(page) ?? [];
  const described = [...table.matchAll(/^\|((?: `[A-Z_\d]+`,?)+)/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  // Proxies have a second name in lower case, as for other programs.
  const names = [...settingNames].filter((name) => name === name.toUpperCase());
  expect(listed.toSorted()).toEqual(names.sort());
  expect(described.toSorted()).toEqual(listed.toSorted());
});

describe('a search for a term of the field leads from ARCHITECTURE.md to a file that has the term', () => {
  const terms = [
    'csrf',
    'ssrf',
    'idempoten',
    'optimistic',
    'backoff',
    'jitter',
    'paginat',
    'rate limit',
    'debounce',
    'graceful',
    'i18n',
    'outbox',
    'lease',
  ];
  test.each(terms)('%s', async (term) => {
    const rows = (texts.get('ARCHITECTURE.md') ?? '').split('\n');
    const found = rows.filter((line) => new RegExp(`^\\|[^|]*\\b${term}`, 'i').test(line)).join('\n');
    const paths = [...found.matchAll(/`([\w-]+(?:\/[\w.-]+)+\.ts)`/g)].map(([, path = '']) => path);
    const files = await Promise.all(
      paths.map(async (path) => path + (await readFile(join(packageRoot, path), 'utf8'))),
    );
    expect(files.filter((text) => text.toLowerCase().includes(term))).not.toEqual([]);
  });
});
