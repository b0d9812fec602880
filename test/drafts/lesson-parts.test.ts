import fc from 'fast-check';
import { expect, test } from 'vitest';
import { divideLesson, joinLesson } from '../../shared/drafts/lesson-parts.ts';

const further = fc.dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });

test('a lesson that is divided and joined has the same JSON', async () => {
  const step = fc.record({ id: fc.uuid(), title: fc.string(), content: further });
  const section = fc.record({ id: fc.uuid(), title: fc.string(), steps: fc.array(step, { maxLength: 4 }) });
  const withMore = <T extends object>(arbitrary: fc.Arbitrary<T>) =>
    fc.tuple(further, arbitrary).map(([more, value]) => ({ ...more, ...value }));
  const lesson = withMore(
    fc.record({ lesson: further, sections: fc.array(withMore(section), { maxLength: 4 }) }),
  );
  await fc.assert(
    fc.asyncProperty(lesson, async (written) => {
      const text = JSON.stringify(written);
      const contents = new Map<string, string>();
      let skeleton = '';
      for (const part of divideLesson(text)) {
        if ('skeleton' in part) ({ skeleton } = part);
        else contents.set(part.stepId, part.content);
      }
      const pieces: string[] = [];
      for await (const piece of joinLesson(skeleton, (id) => Promise.resolve(contents.get(id) ?? '')))
        pieces.push(piece);
      expect(JSON.parse(pieces.join(''))).toEqual(JSON.parse(text));
    }),
  );
});

test('numbers and names that JSON.parse would change stay', async () => {
  const text =
    '{"lesson":{"big":12345678901234567890},"sections":[{"steps":[{"id":"a","content":{"10":1.0,"9":1e400}}]}]}';
  const [step, last] = [...divideLesson(text)];
  expect(step).toEqual({ stepId: 'a', content: '{"10":1.0,"9":1e400}' });
  const { skeleton } = last as { skeleton: string };
  let joined = '';
  for await (const piece of joinLesson(skeleton, () => Promise.resolve('{"10":1.0,"9":1e400}')))
    joined += piece;
  expect(joined).toBe(text);
});
