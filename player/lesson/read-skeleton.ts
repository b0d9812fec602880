import type { LessonSkeleton, SkeletonQuestion } from '../../shared/lessons/lesson-skeleton.ts';
import type { LessonOutline, OutlineWidget } from '../../shared/progress/outline.ts';
import { initialValues, playedSections } from './read-lesson.ts';
import type { PlayedLesson } from './read-lesson.ts';
import type { StepSource } from './step-source.ts';

/** Reads a lesson from its skeleton, which Lectern's server made of a checked lesson. */
export function readSkeleton(
  { lesson, cover, ownTypes = [], attributions, sections }: LessonSkeleton,
  source: StepSource,
): PlayedLesson {
  const played = playedSections(sections);
  const byId = new Map(played.steps.map((step) => [step.id, step]));
  return {
    id: lesson.id,
    title: lesson.title,
    language: undefined,
    variables: initialValues(lesson.variable_definitions),
    overrides: lesson.widget_settings.overrides,
    cover: cover ?? null,
    ownTypes,
    attributions,
    ...played,
    outline: outlineOfQuestions(sections),
    widgetOf(stepId, widgetId) {
      const step = byId.get(stepId);
      const widgets = step && source.find(step)?.widgets();
      return widgets?.find((widget) => widget.widgetId === widgetId);
    },
    contentOf: (step) => source.find(step)?.content,
    load: (index) => source.load(index),
  };
}

function outlineOfQuestions(sections: LessonSkeleton['sections']): LessonOutline {
  return {
    totalSteps: sections.reduce((sum, { steps }) => sum + steps.length, 0),
    sections: sections.map(({ steps }) => ({
      id: '',
      steps: steps.map(({ id, questions = [] }) => ({ id, widgets: questions.map(widgetOf) })),
    })),
  };
}

/** Returns a question for counting points; answers to it are scored with its step's own widget. */
function widgetOf({ widgetId, widgetType, points, isConditional }: SkeletonQuestion): OutlineWidget {
  const declaredPoints = points ?? null;
  return {
    widgetId,
    widgetType,
    isConditional: isConditional === true,
    isCore: false,
    question: null,
    declaredPoints,
  };
}
