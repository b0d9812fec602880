import type { LessonCover } from '../../shared/lessons/cover.ts';
import { message } from '../../shared/i18n/message.ts';
import { element, icon } from '../dom.ts';
import { reserveSpace } from '../picture-space.ts';
import type { StepHost } from './step-view.ts';

/** Makes the page before the first step, below its heading: picture, purpose, and how long it takes. */
export function coverView(
  { image, imageAlt, imageSize, text, objectives, minutes }: LessonCover,
  steps: number,
  { language, resolveMedia, sizeOf }: Pick<StepHost, 'language' | 'resolveMedia' | 'sizeOf'>,
): HTMLElement {
  const page = element('div', { class: 'lectern-cover' });
  if (image !== '') {
    const picture = element('img', { class: 'lectern-cover-image', src: resolveMedia(image), alt: imageAlt });
    const size = imageSize ?? sizeOf?.(image);
    reserveSpace(picture, size);
    if (size) picture.style.setProperty('--lectern-ratio', String(size.width / size.height));
    // A cover without its picture is better than one with a broken picture.
    picture.addEventListener('error', () => picture.remove());
    page.append(picture);
  }
  for (const paragraph of text.split('\n').filter((line) => line.trim() !== '')) {
    page.append(element('p', {}, paragraph));
  }
  if (objectives.length > 0) {
    page.append(
      element('h2', { class: 'lectern-end-heading' }, message(language, 'lesson.objectives')),
      element(
        'ul',
        { class: 'lectern-objectives' },
        ...objectives.map((entry) => element('li', {}, icon('right'), element('span', {}, entry))),
      ),
    );
  }
  const facts = [
    message(language, 'lesson.minutes', { count: minutes }),
    message(language, 'lesson.stepCount', { count: steps }),
  ];
  page.append(element('p', { class: 'lectern-place' }, facts.join(' · ')));
  return page;
}
