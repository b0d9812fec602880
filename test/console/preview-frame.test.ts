import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Frame, Page } from 'playwright-core';
import type { LessonVersion } from '../../shared/models/lesson-version.ts';
import { readFromEditFrame } from '../../shared/lessons/preview-messages.ts';
import type { EmptyList, Rectangle, ToEditFrame } from '../../shared/lessons/preview-messages.ts';
import { bytesOf } from '../../shared/storage/digest.ts';
import { packageRoot } from '../../shared/platform/paths.ts';
import { releaseWidget } from '../../shared/widgets/releases.ts';
import { buildUser, openSession, quickHash } from '../accounts/users.ts';
import { publishLesson, section, step } from '../player/player-lessons.ts';
import { ask } from '../support/answers.ts';
import { buildVersion } from '../support/factories.ts';
import { useApi, useBrowser } from '../support/use.ts';
import { waitFor } from '../support/wait-for.ts';

const api = useApi();
const browser = useBrowser();
/** Violations of policies, which Lectern's own pages never cause. */
const violations: string[] = [];

afterAll(() => expect(violations).toEqual([]));

interface EditedBlock {
  type: string;
  props: Record<string, unknown> & { id: string };
}

/** A page of the console's origin, with the frame of a draft's preview and the messages from it. */
class Editor {
  readonly page: Page;
  #revision = 0;

  constructor(page: Page) {
    this.page = page;
  }

  async send(message: ToEditFrame): Promise<void> {
    await this.page.evaluate(`port.postMessage(${JSON.stringify(message)})`);
  }

  /** Shows blocks, and waits for their layout. */
  async show(content: readonly EditedBlock[]) {
    this.#revision += 1;
    await this.send({ type: 'step', revision: this.#revision, content: { content } });
    return this.layout();
  }

  /** Returns the last layout of the blocks that were shown last. */
  async layout(): Promise<{ blocks: Map<string, Rectangle>; emptyLists: readonly EmptyList[] }> {
    const [, blocks, emptyLists] = await waitFor('the layout', async () => {
      const last = await this.page.evaluate<[number, [string, Rectangle][], EmptyList[]]>(`(() => {
        const { revision, blocks, emptyLists } = got.findLast(({ type }) => type === 'layout');
        return [revision, [...blocks], emptyLists];
      })()`);
      return last[0] === this.#revision ? last : undefined;
    });
    return { blocks: new Map(blocks), emptyLists };
  }

  frame(): Frame {
    const found = this.page.frames().find((frame) => frame.url().endsWith('/edit-frame.html'));
    if (found === undefined) throw new Error('no frame');
    return found;
  }
}

/** Opens a page as an author. */
async function openPage(): Promise<Page> {
  const { user } = await buildUser(api, {
    organization: api.organization,
    role: 'author',
    passwordHash: quickHash,
  });
  const { cookie } = await openSession(api.url, user);
  const context = await browser.newContext();
  await context.addCookies(
    cookie.split('; ').map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return { name, value: value.join('='), url: api.url };
    }),
  );
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    console.error('violates ' + event.violatedDirective + ' by ' + event.blockedURI))`);
  context.on('console', (message) => {
    if (message.text().startsWith('violates')) violations.push(message.text());
  });
  return context.newPage();
}

/** Opens the preview of a lesson's draft as its author. */
async function openEditor({ lessonId }: LessonVersion): Promise<Editor> {
  const created = await ask(`${api.url}/api/lessons/${lessonId}/draft`, {
    method: 'POST',
    headers: { ...api.headers, 'content-type': 'application/json' },
    body: '{}',
  });
  expect(created.status).toBe(201);
  const page = await openPage();
  await page.goto(`${api.url}/console/lessons/${lessonId}`);
  await page.evaluate(`(async () => {
    const response = await fetch('/api/lessons/${lessonId}/draft/preview-frame');
    const { frameUrl, contentUrl } = await response.json();
    const { port1, port2 } = new MessageChannel();
    Object.assign(window, { port: port1, got: [] });
    port.onmessage = ({ data }) => got.push(data);
    const iframe = document.createElement('iframe');
    iframe.setAttribute('sandbox', 'allow-scripts');
    iframe.style.cssText = 'position: fixed; inset: 0; width: 768px; height: 4000px; z-index: 9';
    await new Promise((resolve) => {
      addEventListener('message', ({ source, data }) => {
        if (source !== iframe.contentWindow || data.source !== 'lectern-edit-frame') return;
        const look = { language: 'en', direction: 'ltr', content: new URL(contentUrl, location.href).href };
        source.postMessage({ type: 'look', ...look, overrides: {}, ownTypes: [] }, '*', [port2]);
        resolve();
      });
      iframe.src = frameUrl;
      document.body.append(iframe);
    });
  })()`);
  return new Editor(page);
}

async function release(type: string, js: string): Promise<void> {
  const { db, store, organization } = api;
  await releaseWidget(db, store, {
    organizationId: organization._id,
    type,
    js: bytesOf(Buffer.from(js)),
    css: null,
  });
}

const text = (id: string, html: string): EditedBlock => ({ type: 'Text', props: { id, html } });

test('the preview shows the demo lesson and a custom widget, and mounts only blocks that change', async () => {
  await release(
    'Dial',
    `export default { mount(element, { props }) {
      globalThis.mounts = (globalThis.mounts ?? 0) + 1;
      element.innerHTML = '<p style="height: 70px">' + props.text + ' ' + globalThis.mounts + '</p>';
      return { destroy() {} };
    } }`,
  );
  const version = await buildVersion(api, api.organization, join(packageRoot, 'demo/lesson'));
  const editor = await openEditor(version);
  const { sections } = JSON.parse(await readFile(join(packageRoot, 'demo/lesson/lesson.json'), 'utf8')) as {
    sections: { steps: { content: { content: EditedBlock[] } }[] }[];
  };
  for (const { content } of sections.flatMap(({ steps }) => steps.map((step) => step.content))) {
    const { blocks } = await editor.show(content);
    expect(content.filter(({ props }) => !blocks.has(props.id))).toEqual([]);
  }
  expect(await editor.frame().locator('.lectern-missing').count()).toBe(0);

  const dial = (words: string): EditedBlock => ({ type: 'Dial', props: { id: 'dial', text: words } });
  const nested = (html: string): EditedBlock => ({
    type: 'Columns',
    props: { id: 'columns', columns: [[text('one', html), text('two', '<p>Two</p>')], []] },
  });
  await editor.show([text('first', '<p>First</p>'), nested('<p>One</p>'), dial('Old')]);
  const widget = editor.frame().frameLocator('[data-lectern-block=dial] iframe');
  await widget.getByText('Old 1').waitFor();
  await editor
    .frame()
    .evaluate(
      `for (const shown of document.querySelectorAll('[data-lectern-block] > *')) shown.title = 'old'`,
    );
  await editor.show([dial('New'), text('first', '<p>First</p>'), nested('<p>Other</p>')]);
  await widget.getByText('New 2').waitFor();
  const untouched = await editor.frame().evaluate(`[...document.querySelectorAll('[data-lectern-block]')]
    .filter(({ children }) => children[0].title === 'old').map(({ dataset }) => dataset.lecternBlock)`);
  expect(untouched).toEqual(['dial', 'first', 'columns', 'two']);

  const { blocks, emptyLists } = await editor.layout();
  const boxes = await editor.frame()
    .evaluate(`[...document.querySelectorAll('[data-lectern-block]')].map((slot) => {
    const { x, y, width, height } = slot.getBoundingClientRect();
    return [slot.dataset.lecternBlock, [x, y, width, height]];
  })`);
  expect([...blocks]).toEqual(boxes);
  expect(emptyLists).toMatchObject([{ blockId: 'columns', path: ['columns', '1'] }]);
});

/** A widget that tries to leave its frame, and says what it has reached. */
const attackerModule = () => `const got = [];
    const attempts = {
      cookie: () => document.cookie,
      storage: () => localStorage.length,
      'console page': () => top.document.title,
      'frame page': () => parent.document.title,
      api: async () => (await fetch('${api.url}/api/session', { credentials: 'include' })).status,
      request: () => new Promise((resolve, reject) => {
        const sent = new XMLHttpRequest();
        sent.onload = resolve;
        sent.onerror = reject;
        sent.open('GET', '${api.url}/api/lessons');
        sent.send();
      }),
      socket: () => new Promise((resolve, reject) => {
        const socket = new WebSocket('${api.url.replace('http', 'ws')}/');
        socket.onopen = resolve;
        socket.onerror = reject;
      }),
      window: () => open('about:blank').document,
    };
    const layout = { type: 'layout', revision: 1, width: 768, blocks: [['forged', [0, 0, 9, 9]]], emptyLists: [] };
    const messages = [layout, { type: 'step', revision: 1, content: { content: [] } }, { type: 'height', height: 9 },
      { type: 'look', language: 'xx' }, { source: 'lectern-edit-frame', v: 1, type: 'hello' }];
    export default { async mount(element) {
      for (const [name, attempt] of Object.entries(attempts)) {
        try { await attempt(); got.push(name); } catch {}
      }
      for (const target of [parent, top]) for (const message of messages) {
        target.postMessage(message, '*', [new MessageChannel().port2]);
      }
      try { top.location = 'about:blank#left'; } catch {}
      try { parent.location = 'about:blank#left'; } catch {}
      element.textContent = 'Reached: ' + got.join();
      return { destroy() {} };
    } }`;

test('hostile widgets and HTML in a draft reach nothing of the console, and forge no message', async () => {
  await release('Attacker', attackerModule());
  const version = await publishLesson(api, api.organization);
  const editor = await openEditor(version);
  const { page } = editor;
  const attack = "top.pwned = parent.pwned = document.title = 'pwned'";
  const html = `<p>Text</p><script>${attack}</script><img src="x:" onerror="${attack}"><svg onload="${attack}"></svg>
    <iframe srcdoc="<script>${attack}</script>"></iframe><a href="javascript:${attack}">link</a>
    <form action="/api/session"><button>send</button></form><style>* { display: none }</style>
    <meta http-equiv="refresh" content="0; url=/console"><base href="https://attacker.example/">`;
  const before = page.url();
  const layout = await editor.show([
    text('t', html),
    { type: 'Callout', props: { id: 'c', title: html, body: [text('inner', html)] } },
    { type: 'Attacker', props: { id: 'a' } },
  ]);
  const attacker = editor.frame().frameLocator('[data-lectern-block=a] iframe');
  await attacker.getByText('Reached:').waitFor();
  expect(await attacker.locator('.lectern-slot').textContent()).toBe('Reached: ');
  await editor.frame().getByText('link').first().dispatchEvent('click');
  expect(page.url()).toBe(before);
  expect(await page.evaluate(`[document.title, 'pwned' in window]`)).toEqual([await page.title(), false]);
  expect(
    await editor.frame().evaluate(`['pwned' in window, document.title, document.documentElement.lang]`),
  ).toEqual([...[false, 'Lesson', 'en']]);
  expect([...layout.blocks.keys()]).toEqual(['t', 'c', 'inner', 'a']);
  const got = await page.evaluate(
    `JSON.stringify(got.map((message) => [message, ...(message.blocks ?? [])]))`,
  );
  expect(got).not.toContain('forged');
  // The attacks above violate policies.
  violations.length = 0;
});

test('authors select and add blocks in the preview, whatever the lesson contains', async () => {
  await release('Attacker', attackerModule());
  const blocks = [text('first', '<p>First</p>'), { type: 'Attacker', props: { id: 'a' } }];
  const version = await publishLesson(api, api.organization, {
    sections: [section('one', step('s1', ...blocks))],
  });
  const page = await openPage();
  await page.goto(`${api.url}/console/lessons/${version.lessonId}/edit`);
  const frame = page.frameLocator('.preview iframe');
  await frame.frameLocator('[data-lectern-block=a] iframe').getByText('Reached: ').waitFor();
  const slot = frame.locator('[data-lectern-block=first]');
  const at = (await slot.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await page.mouse.click(at.x + 20, at.y + 10);
  await page.getByRole('treeitem', { name: 'First', selected: true }).waitFor();
  const selected = await page.locator('.preview-selected').boundingBox();
  expect(Object.values(selected ?? {}).map(Math.round)).toEqual(Object.values(at).map(Math.round));
  await page.getByRole('button', { name: 'Add a block after this one' }).click();
  await page.getByRole('menuitem', { name: 'Divider' }).click();
  await frame.locator('[data-lectern-block] hr').waitFor();
  const order = await frame.locator('[data-lectern-block]').allTextContents();
  expect(order.slice(0, 2)).toEqual(['First', '']);
  // The attacks above violate policies.
  violations.length = 0;
});

test('the console takes nothing from the frame but rectangles of numbers', () => {
  const layout = {
    type: 'layout',
    revision: 1,
    width: 100,
    blocks: new Map<unknown, unknown>(),
    emptyLists: [] as unknown[],
  };
  layout.blocks.set('good', [1, 2, 3, 4]);
  layout.blocks
    .set('short', [1, 2, 3])
    .set('huge', [0, 0, 1e9, 1])
    .set('text', ['0', 0, 1, 1])
    .set('nan', [NaN, 0, 1, 1]);
  layout.blocks.set({}, [1, 2, 3, 4]).set('x'.repeat(300), [1, 2, 3, 4]);
  layout.emptyLists.push(
    null,
    { blockId: 'b', path: 'body', rectangle: [0, 0, 1, 1] },
    { blockId: 'b', path: ['body'], rectangle: [0, 0, 1, 1], html: '<b>' },
  );
  expect(readFromEditFrame(layout)).toEqual({
    ...{ type: 'layout', revision: 1, width: 100, blocks: new Map([['good', [1, 2, 3, 4]]]) },
    emptyLists: [{ blockId: 'b', path: ['body'], rectangle: [0, 0, 1, 1] }],
  });
  for (const other of [
    null,
    1,
    'layout',
    {},
    { ...layout, revision: '1' },
    { type: 'height', height: -1 },
    { type: 'select', blockId: 'a' },
  ])
    expect(readFromEditFrame(other)).toBeUndefined();
});
