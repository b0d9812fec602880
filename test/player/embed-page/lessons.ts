import type { LessonVersion } from '../../../shared/models/lesson-version.ts';
import { bytesOf } from '../../../shared/storage/digest.ts';
import { releaseWidget } from '../../../shared/widgets/releases.ts';
import { heading, publishLesson, question, section, step } from '../player-lessons.ts';
import type { EmbedLab } from './embed-lab.ts';

/** One step to read, and two with a question each: q2 gives two points, q3 one; `b` is right. */
export function publishQuiz(lab: EmbedLab, lessonId?: string): Promise<LessonVersion> {
  const sections = [
    section('one', step('s1', heading()), { ...step('s2', question('q2', 2)), order_index: 1 }),
    { ...section('two', step('s3', question('q3'))), order_index: 1 },
  ];
  return publishLesson(lab.harness, lab.organization, { sections, ...(lessonId && { lessonId }) });
}

/**
 * A one-step lesson with two custom widgets: `Styled` with a stylesheet, and `Plain` without one.
 */
export async function publishStyled(lab: EmbedLab): Promise<LessonVersion> {
  const { db, store } = lab.harness;
  for (const type of ['Styled', 'Plain']) {
    const source = `export default { type: '${type}', mount(host) { host.append('${type}'); return { destroy() {} } } }`;
    await releaseWidget(db, store, {
      organizationId: lab.organization._id,
      type,
      js: bytesOf(Buffer.from(source)),
      css: type === 'Styled' ? bytesOf(Buffer.from('.lectern-slot { outline: 3px solid red }')) : null,
    });
  }
  const blocks = ['Styled', 'Plain'].map((type) => ({ type, props: { id: type } }));
  return publishLesson(lab.harness, lab.organization, { sections: [section('one', step('s1', ...blocks))] });
}

/**
 * A one-step lesson with a custom widget worth 4 points before a question, `q1`.
 * @param source the widget's module
 */
export async function publishWidget(lab: EmbedLab, type: string, source: string): Promise<LessonVersion> {
  await releaseWidget(lab.harness.db, lab.harness.store, {
    organizationId: lab.organization._id,
    type,
    js: bytesOf(Buffer.from(source)),
    css: null,
  });
  const blocks = [{ type, props: { id: 'custom', points: 4 } }, question('q1')];
  return publishLesson(lab.harness, lab.organization, { sections: [section('one', step('s1', ...blocks))] });
}
