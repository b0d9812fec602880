import { describe, expect, it } from 'vitest';
import { coreWidgetFields } from '../../shared/lessons/core-widget-fields.ts';
import { coreWidgetTypes } from '../../shared/lessons/core-widgets.ts';
import type { CoreWidgetType } from '../../shared/lessons/core-widgets.ts';
import type { Field, Fields } from '../../shared/lessons/widget-fields.ts';
import { useWidgetPage } from './player-lab.ts';

const { lab, view, page } = useWidgetPage();

const largePicture = 'media:1619c428-4d84-4e65-8c2b-8847b8aea3b0';
const sound = 'media:48ed9460-9e64-4df8-854a-71329ce41c4e';

/**
 * Hostile HTML; each piece has broken a sanitizer or a page somewhere. If script runs, it sets
 * `window.pwned`; if something loads, it requests `/leak`.
 */
const hostileHtml: string[] = [
  '<script>window.pwned = 1</script>',
  '<ScRiPt src="/leak.js"></sCrIpT>',
  '<img src="x:x" onerror="window.pwned = 1">',
  '<img src=1 onerror=window.pwned=1//',
  '<img src="media:nothing" onload="window.pwned = 1" onerror="window.pwned = 1">',
  '<svg onload="window.pwned = 1"><circle r="1"></circle></svg>',
  '<svg><script>window.pwned = 1</script></svg>',
  '<svg><animate attributeName="x" dur="1s" onbegin="window.pwned = 1"></animate></svg>',
  '<svg><a><animate attributeName="href" values="javascript:window.pwned=1"></animate><text y="20">go</text></a></svg>',
  '<svg><use href="data:image/svg+xml,<svg id=x xmlns=http://www.w3.org/2000/svg><script>top.pwned=1</script></svg>#x"></use></svg>',
  '<svg><foreignObject><iframe srcdoc="<script>parent.pwned = 1</script>"></iframe></foreignObject></svg>',
  '<svg></p><style><a id="</style><img src=1 onerror=window.pwned=1>">',
  '<a href="javascript:window.pwned=1">go</a>',
  '<a href="jAvAsCrIpT&colon;window.pwned=1">go</a>',
  '<a href="java\tscript:window.pwned=1">go</a>',
  '<a href="&#1;javascript:window.pwned=1">go</a>',
  '<a href="data:text/html,<script>opener.pwned=1</script>">go</a>',
  '<a href="vbscript:window.pwned=1">go</a>',
  '<svg><a xlink:href="javascript:window.pwned=1"><text y="20">go</text></a></svg>',
  '<iframe src="javascript:parent.pwned=1"></iframe>',
  '<iframe srcdoc="<script>parent.pwned = 1</script>"></iframe>',
  '<object data="/leak.html"></object><embed src="/leak.html">',
  '<link rel="stylesheet" href="/leak.css"><meta http-equiv="refresh" content="0;url=/leak"><base href="/leak/">',
  '<style>@import "/leak.css"; body { display: none }</style>',
  '<p style="background: url(/leak.png); position: fixed; inset: 0">over everything</p>',
  '<p style="background: url(javascript:window.pwned=1)">old</p>',
  '<div style="--x: url(/leak.png); list-style-image: url(/leak.png)">listed</div>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.pwned=1&gt;">',
  '<form><math><mtext></form><form><mglyph><style></math><img src=1 onerror=window.pwned=1>',
  '<math><annotation-xml encoding="text/html"><iframe srcdoc="<script>parent.pwned=1</script>"></iframe></annotation-xml></math>',
  '<math href="javascript:window.pwned=1"><mi>x</mi></math>',
  '<math><maction actiontype="statusline" xlink:href="javascript:window.pwned=1">x</maction></math>',
  '<noscript><p title="</noscript><img src=1 onerror=window.pwned=1>"></noscript>',
  '<template><img src=1 onerror=window.pwned=1></template>',
  '<details open ontoggle="window.pwned = 1"><summary>s</summary></details>',
  '<video autoplay src="data:video/mp4," onerror="window.pwned = 1"><source onerror="window.pwned = 1" src="x:x"></video>',
  '<body onload="window.pwned = 1"><input autofocus onfocus="window.pwned = 1">',
  '<form action="/leak"><input name="password"><button formaction="javascript:window.pwned=1">go</button></form>',
  '<marquee onstart="window.pwned = 1">m</marquee>',
  '<x-y onclick="window.pwned = 1" is="x-y">custom</x-y>',
  '<img srcset="x:x 1x" onerror="window.pwned = 1"><picture><source srcset="javascript:window.pwned=1"></picture>',
  '<p id="reports">clobber</p><img name="ready"><form id="blocks"><input name="children"></form>',
  '<a href="#" popovertarget="blocks" onmouseover="window.pwned = 1">hover</a>',
  '"><img src=1 onerror=window.pwned=1>',
  "';window.pwned=1;//<!--<img src=1 onerror=window.pwned=1>-->",
  '<p>a</p><p/onclick="window.pwned = 1">b</p>',
  '<b>a</b><b\tonmouseover=window.pwned=1>b</b>',
  '<em>a<!--</em><img src=1 onerror=window.pwned=1>-->',
  '<strong>a</strong><svg/onload=window.pwned=1><i>b</i>',
  '<ul><li>a</ul>&lt;img src=1 onerror=window.pwned=1&gt;',
];

/** Captions with a hostile name, language and text. */
function hostileCaptions(html: string): object[] {
  const file = `WEBVTT\n\n00:00.000 --> 00:30.000\n${html.replaceAll('\n', ' ')}\n`;
  return [{ src: `data:text/vtt,${encodeURIComponent(file)}`, language: html, label: html }];
}

const media = '00000000-0000-4000-8000-000000000000';
const text = (html: string) => ({ type: 'Text', props: { html } });

/** Returns a value for a prop in which every text is hostile. */
function hostileValue(field: Field, html: string): unknown {
  if (field.kind === 'image') return largePicture;
  if (field.kind === 'video') return 'media:x';
  if (field.kind === 'audio') return sound;
  if (field.kind === 'captions') return hostileCaptions(html);
  if (field.kind === 'blocks') return field.inColumns ? [[text(html)]] : [text(html)];
  if (field.kind === 'texts') return [html];
  if (field.kind === 'list') return [hostileProps(field.fields, html)];
  return field.kind === 'object' ? hostileProps(field.fields, html) : html;
}

function hostileProps(fields: Fields, html: string): Record<string, unknown> {
  const values = Object.entries(fields).map(([name, field]) => [name, hostileValue(field, html)]);
  return { ...(Object.fromEntries(values) as object), id: 'a' };
}

/** What a widget needs to show its texts, and an answer, which shows feedback and explanation. */
const needed: Partial<Record<CoreWidgetType, (html: string) => { props: object; state: unknown }>> = {
  MultipleChoice: () => ({ props: { correct: ['a'], points: 1 }, state: ['a'] }),
  TrueFalse: () => ({ props: { correct: true, points: 1 }, state: true }),
  Numeric: () => ({ props: { correct: 1, points: 1 }, state: 1 }),
  OpenResponse: () => ({ props: {}, state: 'answered' }),
  FillInTheBlanks(html) {
    const blank = { id: 'a', answers: [html], hint: html, feedback: { right: html, wrong: html } };
    return { props: { text: `<p>[[a]]</p>${html}`, blanks: [blank], points: 1 }, state: { a: 'x' } };
  },
  Matching: () => ({ props: { points: 1 }, state: { a: 'a' } }),
  Ordering(html) {
    const items = ['a', 'b'].map((id) => ({ id, html: html + id }));
    return { props: { items, points: 1 }, state: ['b', 'a'] };
  },
};

/** Enough to see that a place uses the sanitizer. */
const simplest = hostileHtml.slice(0, 6);

describe("authors' HTML", () => {
  it.each<[title: string, types: readonly CoreWidgetType[], pieces: readonly string[]]>([
    ['that has broken sanitizers does nothing', ['Text'], hostileHtml],
    ['does nothing in any prop of any core widget', coreWidgetTypes, simplest],
  ])('%s', async (_title, types, pieces) => {
    const states: Record<string, unknown> = {};
    const blocks = types.flatMap((type) =>
      pieces.map((html, index) => {
        const id = `${type}-${index}`;
        const { props, state } = needed[type]?.(html) ?? {};
        if (state !== undefined) states[id] = state;
        return { type, props: { ...hostileProps(coreWidgetFields[type], html), ...props, id } };
      }),
    );
    await view.show(blocks, { states });
    await page.evaluate(`(async () => {
      for (const details of document.querySelectorAll('details')) details.open = true;
      for (const image of document.images) image.loading = 'eager';
      await Promise.allSettled([...document.images].map((image) => image.decode()));
      await new Promise(requestAnimationFrame);
      await Promise.all([...document.querySelectorAll('audio')].map(async (medium) => {
        if (!medium.readyState) {
          await new Promise((done) => ['loadedmetadata', 'error'].forEach((type) => medium.addEventListener(type, done)));
        }
        medium.currentTime = 1;
      }));
      for (const button of document.querySelectorAll('.lectern-zoom-open, .lectern-hint-button')) button.click();
      // What runs when it is used: hover, focus, and every link, without leaving the page.
      addEventListener('click', (event) => event.preventDefault());
      for (const node of document.querySelectorAll('main *')) {
        for (const type of ['mouseover', 'focus', 'toggle', 'click']) node.dispatchEvent(new Event(type, { bubbles: true, cancelable: true }));
      }
      // Pictures that failed before have reported it before this one.
      await new Promise((onerror) => Object.assign(new Image(), { onerror, src: 'x:x' }));
      await new Promise(requestAnimationFrame);
    })()`);
    const found = await page.evaluate(`(() => {
      const texts = '.lectern-rich, .lectern-heading, .lectern-note, .lectern-caption-line, option, summary, [role=tab], .lectern-program';
      const own = ':not(.lectern-input, .lectern-input *, .lectern-button, .lectern-hint-button)';
      const all = [...document.querySelectorAll('main :is(' + texts + ') *' + own + ', main img, main dialog > :not(button)')];
      const attributes = all.flatMap((node) => [...node.attributes].map(({ name, value }) => [name, value.replace(/[\\s\\x00-\\x1f]/g, '')]));
      return {
        pwned: window.pwned ?? null,
        tags: [...new Set(all.map((node) => node.localName))].filter((tag) =>
          /^(script|iframe|object|embed|link|meta|base|style|form|input|button|textarea|select|foreignobject|animate|use|template|x-y|dialog|marquee)$/i.test(tag)),
        handlers: attributes.map(([name]) => name).filter((name) => name.startsWith('on')),
        addresses: attributes.filter(([name, value]) => name !== 'alt' && /^(javascript|vbscript|data:text)/i.test(value)),
        covering: all.filter((node) => getComputedStyle(node).position === 'fixed').length,
      };
    })()`);
    expect(found).toEqual({ pwned: null, tags: [], handlers: [], addresses: [], covering: 0 });
    expect(view.requests.filter((path) => path.includes('leak'))).toEqual([]);
    expect(page.url()).toBe(`${lab.origin}/widgets.html`);
  });

  it('a source that is script, a page or no URL does nothing', async () => {
    const htmlPage = 'data:text/html,<script>parent.pwned=1</script>';
    const blocks = ['javascript:window.pwned=1', htmlPage, 'media:', 'http://[', '//'].flatMap((src) =>
      ['Image', 'Video', 'Audio'].map((type) => ({
        type,
        props: { src, poster: src, captions: src, alt: 'a' },
      })),
    );
    await view.show(blocks);
    expect(await page.evaluate('window.pwned ?? null')).toBeNull();
    expect(await page.locator('iframe').count()).toBe(0);
  });

  it('media references resolve, alone, among sources, and in links', async () => {
    const html = `<p><img src="media:${media}" alt="a"><img src="./media/${media}.png" srcset="media:${media} 2x" alt="b">
            <a href="media:${media}">download</a></p><video src="media:${media}" poster="media:${media}"></video>
            <svg viewBox="0 0 9 9"><image href="media:${media}"></image></svg>`;
    await view.show([text(html)]);
    const shown = await page.locator('.lectern-rich').innerHTML();
    expect(shown).not.toContain('media:');
    expect(shown).not.toContain('./media/');
    expect(shown.split(`"/media/${media}`).length - 1).toBe(7);
  });

  it('only media attributes load files from elsewhere', async () => {
    const url = 'https://third-party.example/x.svg';
    const names = ['fill', 'stroke', 'filter', 'mask', 'clip-path', 'marker-start'];
    const shapes = names.flatMap((name) => [
      `<path class="foreign" d="M0 0h9v9" ${name}="url(${url}#a)"></path>`,
      `<path class="foreign" d="M0 0h9v9" ${name}="\\75 rl( '${url}#a')"></path>`,
      `<path class="own" d="M0 0h9v9" ${name}="url(#a)"></path>`,
    ]);
    const html = `<table background="${url}"><tbody background="${url}"><tr><td background="${url}" style="background: url(${url})">t</td></tr></tbody></table>
      <svg viewBox="0 0 9 9"><rect fill="rgb(1, 2, 3)" width="9" height="9"></rect>${shapes.join('')}</svg>`;
    await view.show([text(html)]);
    const shown = await page.locator('.lectern-rich').innerHTML();
    expect(view.requests.filter((path) => path.includes('third-party'))).toEqual([]);
    expect(shown).not.toContain('third-party');
    expect(shown.split('url(#a)').length - 1).toBe(names.length);
    expect(shown).toContain('rgb(1, 2, 3)');
  });

  it('drawings and tables that take browsers many seconds lose the parts that do', async () => {
    const shape = '<rect width="9" height="9"';
    const nested = ['mask', 'clipPath', 'marker', 'pattern'].map((part) => {
      const name = { clipPath: 'clip-path', marker: 'marker-mid', pattern: 'mask' }[part] ?? part;
      const uses = `${shape} ${name}="url(#next)"/>`;
      return `<svg><${part} id="${part}" ${name}="url(#next)">${uses}${uses}</${part}>${shape} ${name}="url(#one)"/></svg>`;
    });
    const filter = (steps: number) =>
      `<svg><filter id="f">${'<feGaussianBlur stdDeviation="9"/>'.repeat(steps)}</filter>${shape} filter="url(#f)"/></svg>`;
    const gradients = '<linearGradient href="#g"/>'.repeat(5000);
    const table = (rows: number) =>
      `<table>${'<tr><td colspan="1000" rowspan="65534">x</td></tr>'.repeat(rows)}</table>`;
    await view.show([
      text(nested.join('')),
      text(filter(20)),
      text(filter(21)),
      text(`<svg>${gradients}</svg>`),
      text(table(2)),
      text(table(200)),
    ]);
    const found = await page.evaluate(`[...document.querySelectorAll('.lectern-rich')].map((text) =>
      ['[mask], [clip-path], [marker-mid]', '[filter]', 'linearGradient', '[colspan][rowspan]'].map((what) =>
        text.querySelectorAll(what).length))`);
    // In a drawing, only the shape that is painted itself keeps its mask.
    expect(found).toEqual([
      [4, 0, 0, 0],
      [0, 1, 0, 0],
      [0, 0, 0, 0],
      [0, 0, 100, 0],
      [0, 0, 0, 2],
      [0, 0, 0, 0],
    ]);
  });

  it('MathML is kept and rendered as mathematics', async () => {
    const formula = `<math display="block"><semantics><mfrac><mn>1</mn><msup><mi>d</mi><mn>3</mn></msup></mfrac>
      <annotation encoding="application/x-tex">\\frac{1}{d^3}</annotation></semantics></math>`;
    await view.show([text(`<p>So</p>${formula}`)]);
    expect(await page.locator('math mfrac msup').count()).toBe(1);
    expect(await page.locator('math').textContent()).not.toContain('frac');
    expect(await page.evaluate(`document.querySelector('mfrac') instanceof MathMLElement`)).toBe(true);
    const [top, bottom] = await page.evaluate<[number, number]>(
      `[...document.querySelector('mfrac').children].map((part) => part.getBoundingClientRect().top)`,
    );
    expect(bottom).toBeGreaterThan(top);
  });

  it('links open outside the lesson without window.opener; links within the text do not', async () => {
    await view.show([
      text(
        '<p><a href="https://example.org/x" target="_top" rel="opener">out</a> <a href="#note">in</a></p>',
      ),
    ]);
    const out = page.getByText('out');
    expect(await out.getAttribute('target')).toBe('_blank');
    expect(await out.getAttribute('rel')).toBe('noopener noreferrer');
    expect(await page.getByText('in', { exact: true }).getAttribute('target')).toBeNull();
  });

  it('links of image maps and SVG drawings open outside the lesson, too', async () => {
    const html = `<img src="media:${media}" alt="a" usemap="#m"><map name="m"><area href="https://example.org/area"
      alt="b" shape="default"></map><svg viewBox="0 0 9 9"><a xlink:href="https://example.org/svg"><text y="9">c</text></a></svg>`;
    await view.show([text(html)]);
    const links = await page.evaluate(
      `[...document.querySelectorAll('area, svg a')].map((link) => ['href', 'xlink:href', 'target', 'rel'].map((name) => link.getAttribute(name)))`,
    );
    expect(links).toEqual(
      ['area', 'svg'].map((path) => [`https://example.org/${path}`, null, '_blank', 'noopener noreferrer']),
    );
  });

  it.each<[what: string, link: string, note: string]>([
    ['an id', '<a href="#fn1">1</a>', '<p id="fn1">note</p>'],
    ['an id that percent-encoding spells', '<a href="#%E6%B3%A81">1</a>', '<p id="注1">note</p>'],
    ['an id that is a property of documents', '<a href="#title">1</a>', '<h3 id="title">note</h3>'],
    ['an id with the prefix of GitHub', '<a href="#fn-1">1</a>', '<p id="user-content-fn-1">note</p>'],
    ['an old anchor', '<a href="#fn1">1</a>', '<p><a name="fn1"></a>note</p>'],
    [
      'a part of a closed panel',
      '<a href="#fn1">1</a>',
      '<details><summary>s</summary><p id="fn1">note</p></details>',
    ],
    [
      'a part of a drawing',
      '<a href="#p">1</a>',
      '<svg width="9" height="9"><g id="p"><text>note</text></g></svg>',
    ],
  ])(
    'links within texts lead to %s of their own text, which several texts have',
    async (_what, link, note) => {
      await view.show(['a', 'b', 'c'].map(() => text(`<p>Text ${link}</p>${note}`)));
      await page.getByRole('link').nth(1).click();
      const target = await page.evaluate(`(() => {
      const { activeElement: target } = document;
      return [[...document.querySelectorAll('.lectern-rich')].findIndex((text) => text.contains(target)),
        target.matches('p, h3, a, g') && target.checkVisibility(), location.hash];
    })()`);
      expect(target).toEqual([1, true, '']);
    },
  );

  it('links lead to the nearest text with the part if their own has none, and back from there', async () => {
    const reference = '<p>Fact<sup><a id="ref1" href="#fn1">1</a></sup></p>';
    const notes = (name: string) => `<ol><li id="fn1">${name} <a href="#ref1">back</a></li></ol>`;
    const column = (name: string) => [
      text(reference),
      {
        type: 'Tabs',
        props: {
          tabs: ['A', 'Notes'].map((title) => ({ title, body: [text(title === 'A' ? 'a' : notes(name))] })),
        },
      },
    ];
    await view.show([{ type: 'Columns', props: { columns: [column('first'), column('second')] } }]);
    const references = page.getByRole('link', { name: '1' });
    await references.nth(1).press('Enter');
    expect(await page.evaluate('document.activeElement.textContent')).toContain('second');
    await page.getByText('back').nth(1).press('Enter');
    expect(
      await page.evaluate(`[...document.querySelectorAll('sup a')].indexOf(document.activeElement)`),
    ).toBe(1);
  });

  it('parts of drawings, tables and panels belong to their own text, whose names other texts also have', async () => {
    const html = (
      color: string,
    ) => `<svg width="40" height="40"><linearGradient id="g"><stop stop-color="${color}"/></linearGradient>
      <linearGradient id="h" href="#g"/><rect width="40" height="40" fill="url(#h)"/><rect id="r" width="1" fill="url('#g') red"/></svg>
      <img src="media:${media}" alt="a" usemap="#m"><map name="m"><area href="#t" alt="b" shape="default"></map>
      <table aria-describedby="t other"><tr><th id="t">h</th><td headers="t">d</td></tr></table>
      <details name="d" open><summary>s</summary>x</details>`;
    await view.show([text(html('#ff0000')), text(html('#0000ff'))]);
    const owners = await page.evaluate(`[...document.querySelectorAll('.lectern-rich')].map((own) => {
      const has = (id) => own.contains(document.getElementById(id));
      const partOf = (selector, name, pattern) => has(pattern.exec(own.querySelector(selector).getAttribute(name))[1]);
      return [
        partOf('linearGradient[href]', 'href', /^#(.*)$/),
        partOf('rect', 'fill', /^url\\(#([^)]*)\\)$/),
        partOf('#' + CSS.escape(own.querySelector('[id$=-r]').id), 'fill', /^url\\('#([^)]*)'\\) red$/),
        partOf('table', 'aria-describedby', /^(\\S+) other$/),
        partOf('td', 'headers', /^(.*)$/),
        own.querySelector('map').name === own.querySelector('img').useMap.slice(1),
        own.querySelector('details').open,
      ];
    })`);
    expect(owners).toEqual([Array(7).fill(true), Array(7).fill(true)]);
    const maps = page.locator('map');
    expect(await maps.nth(0).getAttribute('name')).not.toBe(await maps.nth(1).getAttribute('name'));
  });

  it('cannot use classes of the player, whose drawer and dialogs cover the page', async () => {
    const html = '<p class="lectern-drawer own lectern-skip">text</p>';
    await view.show([text(html)]);
    expect(await page.getByText('text').getAttribute('class')).toBe('own');
  });

  it('alignment styles are kept, and styles that load or move something are removed', async () => {
    await view.show([
      text('<p style="text-align: center; color: red; margin: -99px; background: url(/leak)">mid</p>'),
    ]);
    expect(await page.getByText('mid').getAttribute('style')).toBe('text-align: center;');
  });

  it('shows on a page that requires Trusted Types', async () => {
    const strict = await lab.openWidgets();
    await strict.page.evaluate(`document.head.insertAdjacentHTML('beforeend',
      '<meta http-equiv="Content-Security-Policy" content="require-trusted-types-for \\'script\\'">')`);
    await strict.show([text('<p>Some <em>text</em></p>')]);
    expect(await strict.page.locator('.lectern-rich em').count()).toBe(1);
    await strict.close();
  });

  it('plain text with blank lines becomes paragraphs', async () => {
    await view.show([text('One\nline\n\nTwo')]);
    expect(await page.locator('.lectern-rich p').count()).toBe(2);
  });
});
