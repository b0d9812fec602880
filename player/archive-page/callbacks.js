/*
 * Connects this lesson with your site: the player calls these functions in the learner's browser. Fill them in. This is
 * the only file of the archive that you should change.
 *
 * Each gets an event:
 *
 *   lessonId, versionId
 *   sectionIndex, stepIndex   the learner's position, from zero
 *   stepId, totalSteps
 *   score, maxScore           points; null without a scored answer, or without scored questions
 *   items                     the last answer to each question: widgetId, widgetType, stepId, answer, score,
 *                             maxScore, answeredAt
 *   progressData              visited (ids of steps), completed, atEnd, tries
 *   variableState             values of the lesson's variables
 *   at                        the time of the event, ISO 8601
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
 * You may add onReady, onAnswer and onError.
 */
window.lectern = {
  /** The learner has moved to another step, or past the last one (event.progressData.atEnd). */
  onStepChange(event) {},

  /** The learner has completed the lesson. */
  onComplete(event) {},

  /*
   * The browser stores the progress of everyone who uses it as one learner's. If your site knows its learners, set
   * `state` to the last event that you stored for this learner, or to null for a new one. The lesson then resumes from
   * there, and the browser stores nothing.
   */
  // state: null,
};
