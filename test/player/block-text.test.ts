import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fillProps } from '../../player/lesson/block-text.ts';

function fill(props: Record<string, unknown>, variables: Record<string, unknown>, plainProps: string[] = []) {
  return fillProps(props, { variables, language: 'en', plainProps });
}

describe('variables in text', () => {
  it('a value replaces its name at any depth, every time it occurs', () => {
    const props = { html: '{{a}} and {{ a }}', choices: [{ id: 'x', html: '<b>{{a}}</b>' }] };
    expect(fill(props, { a: 'one' })).toEqual({
      html: 'one and one',
      choices: [{ id: 'x', html: '<b>one</b>' }],
    });
  });

  it('a value never becomes markup in HTML', () => {
    expect(fill({ html: '<p>{{a}}</p>' }, { a: '<img src=x onerror="alert(\'1\')"> & more' })).toEqual({
      html: '<p>&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt; &amp; more</p>',
    });
    fc.assert(
      fc.property(fc.string(), (a) => {
        expect(fill({ html: '{{a}}' }, { a }).html).not.toMatch(/[<>"']/);
      }),
    );
  });

  it('a value is inserted into plain text unchanged', () => {
    expect(fill({ text: 'You said: {{a}}' }, { a: '1 < 2 & "so"' }, ['text'])).toEqual({
      text: 'You said: 1 < 2 & "so"',
    });
  });

  it('a value that resembles a name is not replaced again', () => {
    expect(fill({ html: '{{a}}' }, { a: '{{b}}', b: 'no' })).toEqual({ html: '{{b}}' });
    expect(fill({ html: '{{a}}' }, { a: '$& $1' })).toEqual({ html: '$&amp; $1' });
  });

  it("numbers use the language's format, lists are joined, and unset variables are empty", () => {
    const variables = { n: 1234.5, list: ['a', 2], yes: true, none: null, object: { a: 1 } };
    const html = '{{n}}|{{list}}|{{yes}}|{{none}}|{{object}}';
    expect(fill({ html }, variables).html).toBe('1234.5|a, 2|true||');
    expect(fillProps({ html: '{{n}}' }, { variables, language: 'de', plainProps: [] }).html).toBe('1234,5');
    expect(fillProps({ html: '{{n}}' }, { variables, language: '?', plainProps: [] }).html).toBe('1234.5');
  });

  it('a long value in many places makes no endless text', () => {
    const a = 'x'.repeat(100_000);
    expect(String(fill({ html: '{{a}}'.repeat(10_000) }, { a }).html).length).toBe(500_000);
  });

  it('names, URLs, conditions and nested blocks stay unchanged', () => {
    const props = {
      id: '{{a}}',
      src: '{{a}}',
      variable: '{{a}}',
      correct: ['{{a}}'],
      visibleIf: { variable: '{{a}}', op: 'eq', value: '{{a}}' },
      body: [{ type: 'Text', props: { html: '{{a}}' } }],
    };
    expect(fill(props, { a: 'x' })).toBe(props);
  });
});
