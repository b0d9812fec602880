// Written by `npm run locales` from locales/en.json. Do not edit it.

/** The values of the messages that take any. */
export interface MessageValues {
  'lesson.answered': { answered: number; total: number };
  'lesson.found': { count: number };
  'lesson.sectionProgress': { seen: number; steps: number };
  'lesson.seenSteps': { seen: number; steps: number };
  'lesson.step': { step: number; steps: number };
  'selection.newest': { number: number };
  'selection.pinned': { date: Date; number: number };
  'selection.sections': { count: number };
  'selection.steps': { count: number };
  'selection.tooMany': { most: number };
  'selection.undated': { number: number };
  'widget.score': { maxScore: number; score: number };
  'widget.triesLeft': { left: number };
  'widget.zoomNamed': { alt: string };
}
