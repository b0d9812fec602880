/*
 * What this lesson tells your site. The player calls these functions, in the learner's browser: put into them what
 * your site needs. This is the one file of the archive that is meant to be changed.
 *
 * They get an event:
 *
 *   lessonId, versionId
 *   sectionIndex, stepIndex   where the learner is, from zero
 *   stepId, totalSteps
 *   score, maxScore           points; null while nothing was scored, and where nothing is
 *   items                     the last answer to each question: widgetId, widgetType, stepId, answer, score,
 *                             maxScore, answeredAt
 *   progressData              visited (ids of steps), completed, atEnd, tries
 *   variableState             values of the lesson's variables
 *   at                        when it happened, ISO 8601
 *
 * For example:
 *
 *   onStepChange(event) {
 *     fetch('/my/progress', {
 *       method: 'POST',
 *       headers: { 'Content-Type': 'application/json' },
 *       body: JSON.stringify(event),
 *       keepalive: true,
 *     });
 *   },
 *
 * onReady, onAnswer and onError may be added, too.
 */
window.lectern = {
  /** The learner has gone to another step, or past the last one (event.progressData.atEnd). */
  onStepChange(event) {},

  /** The learner has finished the lesson. */
  onComplete(event) {},

  /*
   * The browser keeps the learner's progress, for whoever opens the lesson there again. Where your site knows its
   * learners, set `state` to the last event that you stored for this one, or to null for someone new: the lesson
   * goes on from there, and the browser keeps nothing.
   */
  // state: null,
};
