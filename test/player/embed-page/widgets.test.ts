import { describe, expect, test } from 'vitest';
import { message } from '../../../shared/i18n/message.ts';
import { bytesOf } from '../../../shared/storage/digest.ts';
import { releaseWidget } from '../../../shared/widgets/releases.ts';
import { buildLearnerToken } from '../../support/factories.ts';
import { waitFor } from '../../support/wait-for.ts';
import { publishLesson, question, section, step } from '../player-lessons.ts';
import { answersIn, choose, press, publishQuiz, publishWidgets, seeStep, useEmbedLab } from './embed-lab.ts';
import type { HostPage } from './embed-lab.ts';

const lab = useEmbedLab();

const victim = `export default { mount(element, { context }) {
  element.innerHTML = '<button>Answer</button>';
  element.firstChild.onclick = () => context.answer('honest', { score: 1, maxScore: 4 });
  return { destroy() {} };
} };`;

/** Tries to answer the question q1 and the widget Victim, and to finish the lesson; lists the tricks that got through. */
const attacker = `
const item = { stepId: 's1', widgetId: 'q1', answer: ['b'], score: 1, maxScore: 1, answeredAt: '2026-01-01T00:00:00Z' };
const state = { progressData: { completed: true, visited: [], tries: [], atEnd: true }, variables: {} };
const forged = [
  { type: 'answer', stepId: 's1', state, item },
  { type: 'step', stepId: 's1', state, completed: true },
  { type: 'answer', value: ['b'], widgetId: 'q1', stepId: 's1', block: { type: 'MultipleChoice', props: { id: 'q1' } } },
  { type: 'draft', stepId: 's1', widgetId: 'q1', answer: ['b'], answeredAt: item.answeredAt },
];
const found = new Set();
const { apply } = Reflect;
const sendAll = (target) => {
  found.add(target);
  for (const message of forged) target.postMessage(message, ...(target instanceof MessagePort ? [] : ['*']));
};
const got = [];
const reached = (name) => got.push(name);
const original = { ...Object.getOwnPropertyDescriptors(MessagePort.prototype) };
const tricks = {
  'port prototype'() {
    const { postMessage } = MessagePort.prototype;
    MessagePort.prototype.postMessage = function (message, ...rest) {
      found.add(this);
      for (const each of [message, ...forged]) apply(postMessage, this, [each, ...rest]);
    };
  },
  'port receiver'() {
    const { set } = original.onmessage;
    Object.defineProperty(MessagePort.prototype, 'onmessage', { set(call) { sendAll(this); apply(set, this, [call]); } });
  },
  'event getters'() {
    for (const name of ['data', 'ports', 'source']) {
      const { get } = Object.getOwnPropertyDescriptor(MessageEvent.prototype, name);
      Object.defineProperty(MessageEvent.prototype, name, { get() { const value = apply(get, this, []); if (value?.[0]?.postMessage) value.forEach(sendAll); return value; } });
    }
  },
  'object prototype'() { Object.defineProperty(Object.prototype, 'widgetId', { get: () => 'q1', set() {}, configurable: true }); },
  'array methods'() { for (const name of ['map', 'push', 'find', 'flatMap']) { const old = Array.prototype[name]; Array.prototype[name] = function (...all) { return apply(old, this, all); }; } },
  'JSON'() { const { stringify } = JSON; JSON.stringify = (value, ...rest) => stringify(value, ...rest)?.replaceAll('Attacker', 'q1'); const { parse } = JSON; JSON.parse = (text) => parse(text.replaceAll('Attacker', 'q1')); },
  'function calls'() { Function.prototype.call = function (self, ...all) { if (self instanceof MessagePort) found.add(self); return apply(this, self, all); }; },
  'promises'() { const { then } = Promise.prototype; Promise.prototype.then = function (...all) { return apply(then, this, all); }; },
  'timers'() { const { setTimeout: wait } = window; window.setTimeout = (call, ...rest) => wait(() => { forged.forEach((each) => parent.postMessage(each, '*')); call(); }, ...rest); },
  'listeners'() { for (const target of [window, document]) for (const type of ['message', 'click', 'input', 'change']) target.addEventListener(type, (event) => [...(event.ports ?? [])].forEach(sendAll), true); },
  'parent'() { parent.document.querySelector('input[value]').click(); reached('parent'); },
  'top'() { top.document.title = 'x'; reached('top'); },
  'listeners of the parent'() { parent.addEventListener('message', () => undefined); reached('listeners of the parent'); },
  'messages to all'() { for (const target of [parent, parent.parent, top]) { sendAll(target); for (const each of forged) target.postMessage({ source: 'lectern-frame', v: 1, ...each }, '*'); target.postMessage({ source: 'lectern-frame', v: 1, type: 'hello', isAnswer: true }, '*'); } },
  'other widgets'() { const { port2 } = new MessageChannel(); for (let at = 0; at < parent.frames.length; at += 1) { sendAll(parent.frames[at]); parent.frames[at].postMessage({ js: 'export default { mount() {} }', css: null, fonts: '', language: 'en' }, '*', at === 0 ? [port2] : []); try { void parent.frames[at].document.body; if (parent.frames[at] !== window) reached('other widgets'); } catch {} } },
  'a fresh realm'() { const fresh = document.body.appendChild(document.createElement('iframe')).contentWindow; for (const target of found) if (target instanceof MessagePort) apply(fresh.MessagePort.prototype.postMessage, target, [forged[0]]); fresh.eval?.('parent.parent.document.title'); },
  'clobbered names'() { document.body.insertAdjacentHTML('beforeend', '<form id="parent" name="document"><input name="querySelector"></form><img name="lectern-lesson"><a id="self" href="x">x</a>'); },
  'converted values'(context) { context.answer({ toString: () => 'q1', valueOf: () => ['b'], toJSON: () => 'mine', [Symbol.toPrimitive]: () => 'q1' }); },
  'polluted answers'(context) { context.answer(JSON.parse('{"__proto__":{"widgetId":"q1","props":{"id":"q1"}},"constructor":{"prototype":{"id":"q1"}}}')); },
  'borrowed contexts'(context) { context.answer.call({ props: { id: 'q1' } }, 'mine'); context.answer.apply({ block: 'q1' }, ['mine', { score: 1, maxScore: 4, widgetId: 'q1' }]); },
  'stack frames'() { Error.prepareStackTrace = (_, sites) => { for (const site of sites) { const self = site.getThis?.(); if (self?.postMessage) sendAll(self); site.getFunction?.(); } return ''; }; Error.stackTraceLimit = 100; void new Error('x').stack; },
  'nested blocks'(context, element) { context.renderBlocks(element, [{ type: 'Attacker', props: { id: 'q1' } }, { type: 'Attacker', props: { id: 'Victim' } }]); },
  'channels'() { const channel = new BroadcastChannel('lectern'); forged.forEach((each) => channel.postMessage(each)); const worker = new Worker(URL.createObjectURL(new Blob(['']))); forged.forEach((each) => worker.postMessage(each)); },
  'navigation'() { for (let at = 0; at < parent.frames.length; at += 1) if (parent.frames[at] !== window) try { parent.frames[at].location = 'about:blank'; } catch {} parent.location = 'about:blank#left'; },
  'script URLs'() { window.open('javascript:opener.parent.document.title', '_parent'); parent.location = 'javascript:void 0'; },
  'events on the frame'() { window.frameElement.dispatchEvent(new Event('input')); reached('events on the frame'); },
  'lies to the host page'() { for (const target of [top, parent]) for (const message of [{ type: 'complete', score: 1, maxScore: 1 }, { type: 'setToken', token: 'x' }]) target.postMessage({ source: 'lectern', v: 1, ...message }, '*'); },
  'the print dialog'() { addEventListener('beforeprint', () => reached('the print dialog')); print(); },
  'storage'() { localStorage.setItem('lectern', 'q1'); reached('storage'); },
};
export default { type: 'Attacker', mount(element, { props, context }) {
  if (props.id !== 'Attacker') return context.answer(['b'], { score: 1, maxScore: 1 });
  // Twice: later tricks find what earlier ones have caught.
  for (let time = 0; time < 2; time += 1)
    for (const trick of Object.values(tricks)) try { trick(context, element); } catch {}
  context.answer('mine', { score: 0, maxScore: 4 });
  for (const name of got) element.append(Object.assign(document.createElement('li'), { textContent: name }));
  element.append(Object.assign(document.createElement('p'), { textContent: 'done' }));
  return { destroy() {} };
} };`;

describe('the outer page trusts no widget:', () => {
  test('custom widgets play with their stylesheets, and keep their answers and scores', async () => {
    const Plain = `export default { mount(host) { host.append('Plain'); return { destroy() {} } } }`;
    const Dial = `export default { type: 'Dial', mount(element, { state, context }) {
      element.innerHTML = '<button>' + (state ?? 'Turn') + '</button>';
      element.firstChild.title = getComputedStyle(element).color;
      element.firstChild.onclick = () => context.answer('turned', { score: 3, maxScore: 4 });
      return { destroy() {} };
    } };`;
    const version = await publishWidgets(lab, { Dial, Plain }, { Dial: '.lectern-slot { color: red }' });
    const context = await lab.browser.newContext();
    const files: string[] = [];
    context.on('request', (request) => {
      const [, file] = /\/content\/.*\/widgets\/(.+)$/.exec(request.url()) ?? [];
      if (file !== undefined) files.push(file);
    });
    const learner = await lab.open(version, { context });
    await learner.widget('Plain').getByText('Plain', { exact: true }).waitFor();
    await press({ lesson: learner.widget('Dial') }, 'Turn');
    await lab.seeSaved(version, { Dial: 'turned' });
    // Only the stylesheets that exist are requested.
    expect(files.toSorted()).toEqual(['Dial.css', 'Dial.js', 'Plain.js']);
    expect(await lab.progressOf(version)).toMatchObject({ score: 3 });
    const again = await lab.open(version);
    const turned = again.widget('Dial').getByRole('button', { name: 'turned' });
    expect(await turned.getAttribute('title')).toBe('rgb(255, 0, 0)');
  });

  test('modules that throw, export no widget, never load, or keep restarting their frame affect nothing else', async () => {
    const version = await publishWidgets(lab, {
      ThrowsOnLoad: `throw new Error('broken');`,
      ThrowsOnMount: `export default { type: 'X', mount() { throw new Error('broken'); } };`,
      IsNone: `export default 1;`,
      NeverLoads: '',
      Restarter: `export default { type: 'Restarter', mount(element) {
        for (let time = 0; time < 30; time += 1) parent.postMessage({ source: 'lectern-frame', v: 1, type: 'hello' }, '*');
        element.innerHTML = '<button>Restarted</button>';
        return { destroy() {} };
      } };`,
    });
    const context = await lab.browser.newContext();
    await context.route('**/widgets/NeverLoads.js', () => undefined);
    const learner = await lab.open(version, { context });
    await seeStep(learner, 's1');
    const missing = learner.lesson.getByText('This part of the lesson isn’t available.');
    await expect.poll(() => missing.count()).toBe(3);
    await press({ lesson: learner.widget('Restarter') }, 'Restarted');
    await choose(learner, 'b');
    await lab.seeSaved(version, { q1: ['b'] });
    const widgetError: unknown = expect.stringMatching(/^widget_/);
    expect(await learner.errorCodes()).toEqual([widgetError, widgetError, widgetError]);
  });

  test('no trick lets a widget answer for another block, finish the lesson, or tell the host page so', async () => {
    const version = await publishWidgets(lab, { Attacker: attacker, Bystander: victim, Victim: victim });
    const learner = await lab.open(version);
    await learner.page.evaluate(`window.postMessage({ source: 'lectern', v: 1, type: 'complete' }, '*')`);
    await learner.widget('Attacker').getByText('done', { exact: true }).waitFor();
    // Messages sent before this answer have arrived before it.
    await press({ lesson: learner.widget('Victim') }, 'Answer');
    await lab.seeSaved(version, { Victim: 'honest' });
    const progress = await lab.progressOf(version);
    expect(Object.keys(answersIn(progress)).sort()).toEqual(['Attacker', 'Victim']);
    expect(progress).toMatchObject({ status: 'in_progress', maxScore: 13 });
    expect(await learner.widget('Attacker').locator('li').allTextContents()).toEqual([]);
    await choose(learner, 'a');
    await lab.seeSaved(version, { q1: ['a'] });
    expect((await learner.events()).map(({ type }) => type)).not.toContain('complete');
    expect(await learner.errorCodes()).not.toContain('token_invalid');
  });

  test('a widget shows nested blocks of its props, each once, and no others; one that reports too much stops no other answer', async () => {
    const fake = { type: 'Box', props: { id: 'q1' } };
    const box = `export default { mount(element, { props, context }) {
      if (props.id === 'q1') context.answer(['b']);
      for (let time = 0; time < 1_000; time += 1)
        context.renderBlocks(element, [...(props.body ?? []), ${JSON.stringify(fake)}, ${JSON.stringify(question('q1'))}]);
      return { destroy() {} };
    } };`;
    const flood = `export default { mount(element, { context }) {
      context.setVariable('word', 'x'.repeat(2_000_000));
      context.answer('x'.repeat(2_000_000));
      element.append('flooded');
      return { destroy() {} };
    } };`;
    const { db, store, organization } = lab.api;
    for (const [type, source] of Object.entries({ Box: box, Flood: flood })) {
      const js = bytesOf(Buffer.from(source));
      await releaseWidget(db, store, { organizationId: organization._id, type, js, css: null });
    }
    const blocks = [
      { type: 'Flood', props: { id: 'flood', variable: 'word' } },
      { type: 'Box', props: { id: 'box', body: [question('q2')] } },
      question('q1'),
    ];
    const version = await publishLesson(lab.api, organization, {
      lesson: { variable_definitions: [{ name: 'word', type: 'string', initialValue: 'moon' }] },
      sections: [section('one', step('s1', ...blocks))],
    });
    const learner = await lab.open(version);
    await learner.widget('flood').getByText('flooded').waitFor();
    const nested = learner.lesson.locator('[data-lectern-block="box"] .lectern-stack');
    await nested.getByRole('radio', { name: 'b', exact: true }).check();
    await nested.getByRole('button', { name: 'Check answer' }).click();
    await lab.seeSaved(version, { q2: ['b'] });
    expect(answersIn(await lab.progressOf(version))).toEqual({ q2: ['b'] });
    expect(await nested.count()).toBe(1);
    expect(await nested.locator('.lectern-slot').count()).toBe(1);
  });

  test('a widget follows language, theme and variables, keeps its draft, and the focus moves through it; core widgets that load later have the language', async () => {
    const typing = `export default { mount(element, { props, state, context }) {
      const { direction, fontFamily } = getComputedStyle(element);
      const accent = getComputedStyle(document.documentElement).getPropertyValue('--lectern-accent');
      element.innerHTML = '<p></p><input aria-label="Text"><output></output>';
      const [label, input, output] = element.children;
      label.textContent = props.label;
      output.textContent = [document.documentElement.lang, direction, accent, fontFamily.split(',')[0]].join(' ');
      input.value = state ?? '';
      input.addEventListener('change', () => context.setVariable('word', input.value));
      return { destroy() {}, draft: () => input.value };
    }, plainProps: ['label'] };`;
    const { db, store, organization } = lab.api;
    const js = bytesOf(Buffer.from(typing));
    await releaseWidget(db, store, { organizationId: organization._id, type: 'Typing', js, css: null });
    const lesson = {
      language: 'ar',
      variable_definitions: [{ name: 'word', type: 'string', initialValue: 'A & B' }],
    };
    const cards = [{ front: 'Spring tide', back: 'After a full moon' }];
    const flashcards = { type: 'Flashcards', props: { id: 'cards', cards } };
    const blocks = ['one', 'two'].map((id) => ({ type: 'Typing', props: { id, label: `Say {{word}}` } }));
    const version = await publishLesson(lab.api, organization, {
      lesson,
      sections: [section('one', step('s1', ...blocks), step('s2', flashcards))],
    });
    const learner = await lab.open(version, { more: `colorScheme: 'dark'` });
    const [one, two] = ['one', 'two'].map((id) => learner.widget(id));
    await two?.getByText('Say A & B').waitFor();
    expect(await two?.locator('output').textContent()).toBe('ar rtl #7fc1ea system-ui');
    await one?.getByRole('textbox').fill('moon');
    // The focus goes to the next widget, which is its frame's first control.
    await learner.page.keyboard.press('Tab');
    await two?.getByText('Say moon').waitFor();
    await learner.page.keyboard.type('tide');
    await press(learner, message('ar', 'lesson.next'));
    await lab.seeSaved(version, { one: 'moon', two: 'tide' });
    await learner.lesson.getByRole('button', { name: message('ar', 'flashcards.turn') }).waitFor();
  });

  test('a widget reaches no cookies, storage, page, API or other site, and gets no identity of the learner', async () => {
    /** A widget that tries forbidden operations and shows the results. */
    const thief = `
      const tries = {
        cookies: () => document.cookie,
        localStorage: () => localStorage.length,
        sessionStorage: () => sessionStorage.length,
        indexedDB: () => new Promise((resolve, reject) => {
          const request = indexedDB.open('x');
          request.onsuccess = () => resolve('opened');
          request.onerror = () => reject(request.error);
        }),
        origin: () => { if (origin === 'null') throw new Error(origin); return origin; },
        parent: () => parent.document.title,
        top: () => top.document.title,
        location: () => parent.location.href,
        lessons: () => fetch('${lab.api.url}/api/lessons', { credentials: 'include' }).then((r) => 'status ' + r.status),
        session: () => fetch('${lab.api.url}/api/session', { credentials: 'include' }).then((r) => 'status ' + r.status),
        openapi: () => fetch('${lab.api.url}/openapi.json').then((r) => 'status ' + r.status),
        beacon: () => { if (!navigator.sendBeacon('${lab.api.url}/api/session', 'x')) throw new Error('blocked'); return ''; },
        elsewhere: () => fetch('${lab.hostOrigin}').then((r) => 'status ' + r.status),
        leave: () => { top.location = 'about:blank'; return 'left'; },
      };
      export default { type: 'Thief', mount(element) {
        element.innerHTML = '<button>Leave</button>';
        element.firstChild.onclick = () => { location.href = '${lab.hostOrigin}/elsewhere'; };
        const show = (textContent) => element.append(Object.assign(document.createElement('p'), { textContent }));
        addEventListener('message', ({ data }) => show('heard ' + JSON.stringify(data)));
        (async () => {
          for (const [name, attempt] of Object.entries(tries)) {
            try { show(name + ': ' + await attempt()); } catch (error) { show(name + ': failed'); }
          }
          show('done');
          parent.postMessage({ source: 'lectern-frame', v: 1, type: 'hello' }, '*');
        })();
        return { destroy() {} };
      } };`;
    const version = await publishWidgets(lab, { Thief: thief });
    const context = await lab.browser.newContext();
    await context.addCookies([{ name: 'session', value: 'of-a-viewer', url: lab.api.url }]);
    const requests: string[] = [];
    context.on('request', (request) => requests.push(request.url()));
    const ada = { learnerId: 'learner-ada', userAttributes: '{"email":"ada@school.example"}' };
    const learner = await lab.open(version, { context, token: buildLearnerToken(version, ada) });
    const widget = learner.widget('Thief');
    await widget.getByText('done', { exact: true }).waitFor();
    expect(await widget.getByText('heard ').count()).toBe(0);
    const paragraphs = widget.locator('p').filter({ hasText: /^\w+: / });
    const lines = await paragraphs.allTextContents();
    expect(lines.filter((line) => !line.endsWith(': failed') && line !== 'beacon: ')).toEqual([]);
    expect(lines).toHaveLength(14);
    await press({ lesson: widget }, 'Leave');
    await waitFor('the blocked navigation', () =>
      learner.page.frames().some((frame) => frame.url().startsWith('chrome-error:')),
    );
    const forbidden = /\/api\/(lessons|session)$|\/openapi.json$|\/elsewhere$/;
    expect(requests.filter((url) => forbidden.test(url))).toEqual([]);
    expect(await learner.page.title()).toBe('A course');
  });
});

describe('the frame is as high as the lesson', () => {
  const viewport = { width: 1280, height: 720 };

  async function openIn(size: typeof viewport, modules: Record<string, string>): Promise<HostPage> {
    const version = await publishWidgets(lab, modules);
    const context = await lab.browser.newContext({ viewport: size });
    return lab.open(version, { context });
  }

  /** Returns the frame of the only widget. */
  const widgetIn = ({ lesson }: HostPage) => lesson.locator('.lectern-slot > iframe').contentFrame();

  /** Returns the frame's height once it stays the same for this time, or has grown far too much. */
  const settledHeight = ({ page }: HostPage, quietMs = 500) =>
    page.evaluate<number>(`new Promise((resolve) => {
      let timer;
      new ResizeObserver(([{ contentRect: { height } }]) => {
        clearTimeout(timer);
        timer = setTimeout(resolve, height > 20000 ? 0 : ${quietMs}, height);
      }).observe(document.querySelector('#course iframe'));
    })`);

  /** Returns a widget's module: this HTML, a button that adds 300 pixels, and code to run after mounting. */
  const widgetOf = (html: string, code = '') => `export default { mount(element) {
    element.innerHTML = ${JSON.stringify(`${html}<button>Grow</button>`)};
    element.lastChild.onclick = () => element.append(Object.assign(document.createElement('div'), { style: 'height: 300px' }));
    ${code}
    return { destroy() {} };
  } };`;
  const copyHeight = (size: string) =>
    `const size = () => ${size}; addEventListener('resize', size); size();`;

  test('at each step and width', async () => {
    const learner = await lab.open(await publishQuiz(lab));
    const { page, event, lesson } = learner;
    async function expectFit(): Promise<void> {
      await waitFor('the height of the lesson', async () => {
        const { height } = await event('resize');
        const shown = await lesson.locator('.lectern-lesson').boundingBox();
        const frame = await page.locator('#course iframe').boundingBox();
        return height === Math.ceil(shown?.height ?? 0) && frame?.height === Math.max(320, Number(height));
      });
    }
    await seeStep(learner, 's1');
    await expectFit();
    await press(learner, 'Next');
    await choose(learner, 'b');
    await expectFit();
    await page.setViewportSize({ width: 320, height: 700 });
    await expectFit();
  });

  test("but does not grow without end with a widget that copies the window's height late, and hides nothing", async () => {
    const code = copyHeight(
      `setTimeout(() => { element.firstChild.style.height = innerHeight + 1 + 'px'; }, 20)`,
    );
    const learner = await openIn(viewport, { Delayed: widgetOf('<div>Tall</div>', code) });
    await widgetIn(learner).getByText('Tall').waitFor();
    // Longer than the pauses between steps of growth.
    expect(await settledHeight(learner, 2_000)).toBeLessThan(10 * viewport.height);
    // Growth after the learner's action waits for the end of the press, so the button stays under the pointer.
    const choice = learner.lesson.getByRole('radio', { name: 'b', exact: true });
    await choice.click({ delay: 300 });
    expect(await choice.isChecked()).toBe(true);
    await settledHeight(learner, 2_000);
    await press(learner, 'Check answer');
    await press(learner, 'Finish');
  });

  test('also when the lesson unfolds smoothly, and grows whenever its frame has grown', async () => {
    const code = `let times = 0;
      addEventListener('resize', () => {
        if ((times += 1) <= 6) element.append(Object.assign(document.createElement('div'), { style: 'height: 40px' }));
      });
      element.firstChild.animate([{ height: '0' }, { height: '900px' }], { duration: 700, fill: 'forwards' });`;
    const learner = await openIn(viewport, { Growing: widgetOf('<div>Unfolded</div>', code) });
    await widgetIn(learner).getByText('Unfolded').waitFor();
    await press({ lesson: widgetIn(learner) }, 'Grow');
    await settledHeight(learner);
    const isScrolling = `document.documentElement.scrollHeight > document.documentElement.clientHeight`;
    const frame = learner.page.frames().find((each) => each.url().endsWith('/frame.html'));
    await waitFor('room for the lesson', async () => !(await frame?.evaluate<boolean>(isScrolling)));
  });
});
