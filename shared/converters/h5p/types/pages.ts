import { listOf, recordOf } from '../../../lessons/json-values.ts';
import { groupsOf } from '../../../platform/groups.ts';
import type { ConvertedBlock } from '../../converted-lesson.ts';
import { recordsOf } from '../contents.ts';
import type { ContentType, H5pContent, Page } from '../contents.ts';
import { htmlOf, numberOf, plainOf } from '../texts.ts';

/* Contents that hold others: columns, books, question sets and presentations. */

const column: ContentType = {
  element: 'H5P.Column',
  result: 'converted',
  becomes: 'its blocks, with a `Divider` where authors wanted one',
  convert(content) {
    return recordsOf(content.params.content).flatMap((item, index) => {
      const blocks = content.child(item.content ?? item);
      const isApart = item.useSeparator === 'enabled' && index > 0 && blocks.length > 0;
      return isApart ? [{ type: 'Divider', props: {} }, ...blocks] : blocks;
    });
  },
};

const row: ContentType = {
  element: 'H5P.Row',
  result: 'converted',
  becomes: '`Columns`; its blocks with one column; `partial` with columns of different widths',
  convert(content) {
    const columns = recordsOf(content.params.columns).map(({ content: inner }) => content.child(inner));
    const widths = new Set(recordsOf(content.params.columns).map(({ width }) => numberOf(width)));
    const filled = columns.filter((blocks) => blocks.length > 0);
    content.lose('the widths of its columns', filled.length > 1 && widths.size > 1);
    return filled.length > 1 ? [{ type: 'Columns', props: { columns } }] : filled.flat();
  },
};

const rowColumn: ContentType = {
  element: 'H5P.RowColumn',
  result: 'converted',
  becomes: 'its blocks',
  // A group with a single field is stored as the field.
  convert: (content) =>
    recordsOf(content.params.content).flatMap((item) => content.child(item.content ?? item)),
};

const interactiveBook: ContentType = {
  element: 'H5P.InteractiveBook',
  result: 'converted',
  becomes: 'a section for each chapter',
  convert(content) {
    const { bookCover, chapters, showCoverPage } = content.params;
    const cover = showCoverPage === false ? [] : coverOf(content, recordOf(bookCover));
    const pages = recordsOf(chapters).map((item, index) => {
      const chapter = recordOf(item.chapter ?? item);
      const title = plainOf(recordOf(chapter.metadata).title) || `${content.title} (${index + 1})`;
      return { title, blocks: content.child(chapter) };
    });
    return { as: 'sections', pages: [{ title: content.title, blocks: cover }, ...pages] };
  },
};

/** Returns the cover of a book; until version 1.6, its picture was a file. */
function coverOf(content: H5pContent, cover: Record<string, unknown>): ConvertedBlock[] {
  const { coverDescription, coverMedium, coverImage, coverAltText } = cover;
  const blocks = content.child(coverMedium);
  const src = content.file(coverImage, 'image');
  if (src !== null) blocks.push({ type: 'Image', props: { src, alt: plainOf(coverAltText) } });
  if (plainOf(coverDescription) !== '') {
    blocks.push({ type: 'Text', props: { html: htmlOf(coverDescription) } });
  }
  return blocks;
}

const questionSet: ContentType = {
  element: 'H5P.QuestionSet',
  result: 'converted',
  becomes:
    'its questions, in steps; `partial` with a random choice of questions, a pass mark, or texts and videos at the end',
  convert(content) {
    const { introPage, questions, poolSize, randomQuestions, endGame, passPercentage } = content.params;
    const pass = numberOf(passPercentage) ?? 0;
    content.lose(`the pass mark of ${pass} %`, pass > 0);
    const { showIntroPage, title, introduction } = recordOf(introPage);
    const intro = [title, introduction].filter((text) => plainOf(text) !== '').map(textBlock);
    // A group with a single field is stored as the field.
    const asked = recordsOf(questions).map((item) => content.child(item.question ?? item));
    const pool = numberOf(poolSize) ?? 0;
    const isPool = pool > 0 && pool < asked.length;
    content.lose(`learners get all ${asked.length} questions, not ${pool} of them`, isPool);
    content.lose('the random order of its questions', randomQuestions === true && asked.length > 1);
    const { successVideo, failVideo, overallFeedback, oldFeedback } = recordOf(endGame);
    content.lose('videos at the end', listOf(successVideo).length + listOf(failVideo).length > 0);
    const ends = [
      ...recordsOf(overallFeedback).map(({ feedback }) => feedback),
      ...Object.values(recordOf(oldFeedback)),
    ];
    content.lose(
      'texts at the end',
      ends.some((text) => /[^\s]/.test(plainOf(text).replaceAll(/[@:]\w+/g, ''))),
    );
    const groups = [...groupsOf(asked, Math.max(1, content.options.questionsPerStep))];
    const pages = groups.map((group, index) => ({
      title: groups.length === 1 ? content.title : `${content.title} (${index + 1})`,
      blocks: group.flat(),
    }));
    const first = showIntroPage === true ? [{ title: plainOf(title) || content.title, blocks: intro }] : [];
    return { as: 'steps', pages: [...first, ...pages] };
  },
};

function textBlock(html: unknown): ConvertedBlock {
  return { type: 'Text', props: { html: htmlOf(html) } };
}

const coursePresentation: ContentType = {
  element: 'H5P.CoursePresentation',
  result: 'partial',
  becomes:
    'a step for each slide, with its elements from top to bottom; layout and links between slides are lost',
  convert(content) {
    const { presentation, slides } = content.params;
    // Until version 1.2, slides were at the top.
    const list = recordsOf(recordOf(presentation).slides ?? slides);
    const pages = list.map((slide, index) => slidePage(content, slide, index));
    return { as: 'steps', pages };
  },
};

function slidePage(content: H5pContent, slide: Record<string, unknown>, index: number): Page {
  const elements = recordsOf(slide.elements).sort(
    (a, b) => (numberOf(a.y) ?? 0) - (numberOf(b.y) ?? 0) || (numberOf(a.x) ?? 0) - (numberOf(b.x) ?? 0),
  );
  content.lose('the layout of its slides', elements.length > 1);
  const backgrounds = recordOf(slide.slideBackgroundSelector);
  content.lose('pictures in the background', recordOf(backgrounds.imageSlideBackground).path !== undefined);
  const blocks = elements.flatMap((element) => {
    const isLink = element.action === undefined && (numberOf(element.goToSlide) ?? 0) > 0;
    content.lose('links between its slides', isLink);
    return [...content.child(element.action), ...commentOn(element.solution)];
  });
  const [keyword] = listOf(slide.keywords);
  const title = plainOf(typeof keyword === 'string' ? keyword : recordOf(keyword).main);
  return { title: title || `${content.title} (${index + 1})`, blocks };
}

/** Returns the author's comment on an element. */
function commentOn(solution: unknown): ConvertedBlock[] {
  if (plainOf(solution) === '') return [];
  return [{ type: 'Callout', props: { kind: 'note', body: [textBlock(solution)] } }];
}

export const pageTypes = [column, row, rowColumn, interactiveBook, questionSet, coursePresentation];
