/**
 * Returns the title of a page that plays a lesson. It names what the learner sees, for screen readers, tabs and the
 * browser's history.
 *
 * @param heading as in `onHeading`; the cover has the lesson's title as its heading
 */
export function pageTitle(heading: string, lessonTitle: string): string {
  return heading === '' || heading === lessonTitle ? lessonTitle : `${heading} – ${lessonTitle}`;
}
