import { describe, expect, it } from 'vitest';
import { hostileHtml } from './hostile-html.ts';
import { question } from './samples.ts';
import { type SampleBlock } from './widget-page.ts';
import { useWidgetLab } from './use-widget-lab.ts';

const file = useWidgetLab();

const largePicture = 'media:1619c428-4d84-4e65-8c2b-8847b8aea3b0';
const sound = 'media:48ed9460-9e64-4df8-854a-71329ce41c4e';

/** Captions with a hostile name, language and text. */
function hostileCaptions(html: string): object[] {
  const file = `WEBVTT\n\n00:00.000 --> 00:30.000\n${html.replaceAll('\n', ' ')}\n`;
  return [{ src: `data:text/vtt,${encodeURIComponent(file)}`, language: html, label: html }];
}

const media = '00000000-0000-4000-8000-000000000000';

describe("authors' HTML", () => {
  const places: [string, (html: string) => SampleBlock][] = [
    ['Text.html', (html) => ({ type: 'Text', props: { html } })],
    ['Image.caption', (html) => ({ type: 'Image', props: { src: 'media:x', caption: html } })],
    ['Video.transcript', (html) => ({ type: 'Video', props: { transcript: html } })],
    ['Audio.transcript', (html) => ({ type: 'Audio', props: { transcript: html } })],
    [
      'MultipleChoice.prompt',
      (html) => ({ type: 'MultipleChoice', props: { ...question.props, prompt: html } }),
    ],
    [
      'MultipleChoice.choices',
      (html) => ({ type: 'MultipleChoice', props: { ...question.props, choices: [{ id: 'a', html }] } }),
    ],
    [
      'MultipleChoice.explanation',
      (html) => ({ type: 'MultipleChoice', props: { ...question.props, explanation: html } }),
    ],
    [
      'MultipleChoice.choices.feedback',
      (html) => ({
        type: 'MultipleChoice',
        props: { ...question.props, choices: [{ id: 'a', html: 'A', feedback: html }] },
      }),
    ],
    [
      'MultipleChoice.feedback',
      (html) => ({
        type: 'MultipleChoice',
        props: {
          ...question.props,
          choices: [{ id: 'a', html: 'A' }],
          correct: ['a'],
          feedback: { right: html, partly: html, wrong: html },
        },
      }),
    ],
    ['Callout.body', (html) => ({ type: 'Callout', props: { body: [{ type: 'Text', props: { html } }] } })],
    [
      'Columns.columns',
      (html) => ({ type: 'Columns', props: { columns: [[{ type: 'Text', props: { html } }]] } }),
    ],
    ['OpenResponse.prompt', (html) => ({ type: 'OpenResponse', props: { prompt: html } })],
    [
      'OpenResponse.sampleAnswer',
      (html) => ({ type: 'OpenResponse', props: { id: 'o', sampleAnswer: html } }),
    ],
    ['Heading.text', (html) => ({ type: 'Heading', props: { text: html } })],
    ['Callout.title', (html) => ({ type: 'Callout', props: { title: html } })],
    ['Image.alt', (html) => ({ type: 'Image', props: { src: 'media:x', alt: html } })],
    ['Image.alt, opened', (html) => ({ type: 'Image', props: { src: largePicture, alt: html } })],
    [
      'Video.captions',
      (html) => ({ type: 'Video', props: { src: 'media:x', captions: hostileCaptions(html) } }),
    ],
    ['Audio.captions', (html) => ({ type: 'Audio', props: { src: sound, captions: hostileCaptions(html) } })],
  ];

  it.each(places)('hostile HTML in %s does nothing', async (_place, blockOf) => {
    const victim = await file.lab.open();
    const blocks = hostileHtml.map(blockOf);
    await victim.show(blocks, { states: { o: 'answered', q1: ['a'] } });
    await victim.page.evaluate(`(async () => {
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
      for (const button of document.querySelectorAll('.lectern-zoom-open')) button.click();
      // What runs when it is used: hover, focus, and every link, without leaving the page.
      addEventListener('click', (event) => event.preventDefault());
      for (const node of document.querySelectorAll('main *')) {
        for (const type of ['mouseover', 'focus', 'toggle', 'click']) node.dispatchEvent(new Event(type, { bubbles: true, cancelable: true }));
      }
      await new Promise((done) => setTimeout(done, 150));
    })()`);
    const found = await victim.page.evaluate(`(() => {
      const all = [...document.querySelectorAll('main .lectern-rich *, main .lectern-heading *, main .lectern-note *, main img, main dialog > :not(button), main .lectern-caption-line *, main option *')];
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
    expect(victim.requests.filter((path) => path.includes('leak'))).toEqual([]);
    expect(victim.page.url()).toBe(`${file.lab.origin}/`);
    expect(await victim.failures()).toEqual([]);
    await victim.page.context().close();
  });

  it.each([
    'javascript:window.pwned=1',
    'data:text/html,<script>parent.pwned=1</script>',
    'media:',
    'http://[',
    '//',
  ])('a source of %s does nothing', async (src) => {
    await file.shared.show(
      ['Image', 'Video', 'Audio'].map((type) => ({
        type,
        props: { src, poster: src, captions: src, alt: 'a' },
      })),
    );
    expect(await file.shared.page.evaluate('window.pwned ?? null')).toBeNull();
    expect(await file.shared.page.locator('iframe').count()).toBe(0);
  });

  it('media references resolve, alone, among sources, and in links', async () => {
    await file.shared.show([
      {
        type: 'Text',
        props: {
          html: `<p><img src="media:${media}" alt="a"><img src="./media/${media}.png" srcset="media:${media} 2x" alt="b">
            <a href="media:${media}">download</a></p><video src="media:${media}" poster="media:${media}"></video>
            <svg viewBox="0 0 9 9"><image href="media:${media}"></image></svg>`,
        },
      },
    ]);
    const text = await file.shared.page.locator('.lectern-rich').innerHTML();
    expect(text).not.toContain('media:');
    expect(text).not.toContain('./media/');
    expect(text.split(`"/media/${media}`).length - 1).toBe(7);
  });

  it('only media attributes load files from elsewhere', async () => {
    const url = 'https://third-party.example/x.svg';
    const requests: string[] = [];
    const { page } = file.shared;
    const note = (request: { url(): string }) => void requests.push(request.url());
    page.on('request', note);
    const names = ['fill', 'stroke', 'filter', 'mask', 'clip-path', 'marker-start'];
    const shapes = names.flatMap((name) => [
      `<path class="foreign" d="M0 0h9v9" ${name}="url(${url}#a)"></path>`,
      `<path class="foreign" d="M0 0h9v9" ${name}="\\75 rl( '${url}#a')"></path>`,
      `<path class="own" d="M0 0h9v9" ${name}="url(#a)"></path>`,
    ]);
    const html = `<table background="${url}"><tbody background="${url}"><tr><td background="${url}" style="background: url(${url})">t</td></tr></tbody></table>
      <svg viewBox="0 0 9 9"><rect fill="rgb(1, 2, 3)" width="9" height="9"></rect>${shapes.join('')}</svg>`;
    await file.shared.show([{ type: 'Text', props: { html } }]);
    const text = await page.locator('.lectern-rich').innerHTML();
    page.off('request', note);
    expect(requests.filter((address) => address.includes('third-party'))).toEqual([]);
    expect(text).not.toContain('third-party');
    expect(text.split('url(#a)').length - 1).toBe(names.length);
    expect(text).toContain('rgb(1, 2, 3)');
  });

  it('MathML is kept and rendered as mathematics', async () => {
    const formula = `<math display="block"><semantics><mfrac><mn>1</mn><msup><mi>d</mi><mn>3</mn></msup></mfrac>
      <annotation encoding="application/x-tex">\\frac{1}{d^3}</annotation></semantics></math>`;
    await file.shared.show([{ type: 'Text', props: { html: `<p>So</p>${formula}` } }]);
    const { page } = file.shared;
    expect(await page.locator('math mfrac msup').count()).toBe(1);
    expect(await page.locator('math').textContent()).not.toContain('frac');
    expect(await page.evaluate(`document.querySelector('mfrac') instanceof MathMLElement`)).toBe(true);
    const [top, bottom] = await page.evaluate<[number, number]>(
      `[...document.querySelector('mfrac').children].map((part) => part.getBoundingClientRect().top)`,
    );
    expect(bottom).toBeGreaterThan(top);
  });

  it('links open outside the lesson without window.opener; links within the text do not', async () => {
    await file.shared.show([
      {
        type: 'Text',
        props: {
          html: '<p><a href="https://example.org/x" target="_top" rel="opener">out</a> <a href="#note">in</a></p>',
        },
      },
    ]);
    const out = file.shared.page.getByText('out');
    expect(await out.getAttribute('target')).toBe('_blank');
    expect(await out.getAttribute('rel')).toBe('noopener noreferrer');
    expect(await file.shared.page.getByText('in', { exact: true }).getAttribute('target')).toBeNull();
  });

  it('links of image maps and SVG drawings open outside the lesson, too', async () => {
    const html = `<img src="media:${media}" alt="a" usemap="#m"><map name="m"><area href="https://example.org/area"
      alt="b" shape="default"></map><svg viewBox="0 0 9 9"><a xlink:href="https://example.org/svg"><text y="9">c</text></a></svg>`;
    await file.shared.show([{ type: 'Text', props: { html } }]);
    const links = await file.shared.page.evaluate(
      `[...document.querySelectorAll('area, svg a')].map((link) => ['href', 'xlink:href', 'target', 'rel'].map((name) => link.getAttribute(name)))`,
    );
    expect(links).toEqual(
      ['area', 'svg'].map((path) => [`https://example.org/${path}`, null, '_blank', 'noopener noreferrer']),
    );
  });

  it('cannot use classes of the player, whose drawer and dialogs cover the page', async () => {
    const html = '<p class="lectern-drawer own lectern-skip">text</p>';
    await file.shared.show([{ type: 'Text', props: { html } }]);
    expect(await file.shared.page.getByText('text').getAttribute('class')).toBe('own');
  });

  it('alignment styles are kept, and styles that load or move something are removed', async () => {
    await file.shared.show([
      {
        type: 'Text',
        props: {
          html: '<p style="text-align: center; color: red; margin: -99px; background: url(/leak)">mid</p>',
        },
      },
    ]);
    expect(await file.shared.page.getByText('mid').getAttribute('style')).toBe('text-align: center;');
  });

  it('plain text with blank lines becomes paragraphs', async () => {
    await file.shared.show([{ type: 'Text', props: { html: 'One\nline\n\nTwo' } }]);
    expect(await file.shared.page.locator('.lectern-rich p').count()).toBe(2);
  });
});
