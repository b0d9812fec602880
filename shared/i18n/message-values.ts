// Written by `npm run locales` from locales/en.json. Do not edit it.

/** The values of the messages that take any. */
export interface MessageValues {
  'code.label': { language: string };
  'fillInTheBlanks.gap': { gap: number; gaps: number };
  'flashcards.left': { left: number };
  'lesson.answered': { answered: number; total: number };
  'lesson.finishGrade': { percent: string };
  'lesson.found': { count: number };
  'lesson.minutes': { count: number };
  'lesson.points': { maxScore: number; score: number };
  'lesson.question': { number: number };
  'lesson.rightOf': { right: number; total: number };
  'lesson.sectionProgress': { seen: number; steps: number };
  'lesson.seenSteps': { seen: number; steps: number };
  'lesson.step': { step: number; steps: number };
  'lesson.stepCount': { count: number };
  'matching.placed': { item: string; option: string };
  'matching.removed': { option: string };
  'matching.selected': { option: string };
  'numeric.numberFirst': { example: string };
  'numeric.rightAnswer': { answer: string };
  'ordering.down': { item: string };
  'ordering.isFirst': { item: string };
  'ordering.isLast': { item: string };
  'ordering.moved': { count: number; item: string; position: number };
  'ordering.up': { item: string };
  'selection.newest': { number: number };
  'selection.pinned': { date: Date; number: number };
  'selection.published': { date: Date };
  'selection.sections': { count: number };
  'selection.steps': { count: number };
  'selection.tooMany': { most: number };
  'selection.undated': { number: number };
  'widget.playFrom': { host: string };
  'widget.playFromNote': { host: string };
  'widget.score': { maxScore: number; score: number };
  'widget.triesLeft': { left: number };
  'widget.watchOn': { host: string };
  'widget.zoomNamed': { alt: string };
}
