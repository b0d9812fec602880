import { randomUUID } from 'node:crypto';
import { hexId } from './model.ts';
import { addLineItem, lineItemsOf } from './line-items.ts';
import type { Course, LineItemDetails, Link } from './model.ts';
import type { Platform } from './platform.ts';

export function addCourse(platform: Platform, details: Partial<Course> = {}): Course {
  const number = platform.courses.size + 1;
  const course = {
    id: hexId(),
    label: `GEO-${100 + number}`,
    title: `Geography ${number}`,
    history: [],
    ...details,
  };
  platform.courses.set(course.id, course);
  return course;
}

/** Adds a link to a course, with a line item if there are details of one. */
export function addLink(platform: Platform, link: Omit<Link, 'id'>, lineItem: LineItemDetails | null): Link {
  const added = { ...link, id: randomUUID() };
  platform.links.set(added.id, added);
  if (lineItem !== null) addLineItem(platform, { ...added, linkId: added.id }, lineItem);
  return added;
}

/**
 * Copies a course as platforms do: the course, its links and line items get new ids, and the histories of course and
 * links name the originals. Scores are not copied.
 */
export function copyCourse(platform: Platform, course: Course): Course {
  const copy = addCourse(platform, {
    label: course.label,
    title: `${course.title} (copy)`,
    history: [course.id, ...course.history],
  });
  for (const link of linksOf(platform, course.id)) {
    const history = [link.id, ...link.history];
    const linkCopy = addLink(platform, { ...link, courseId: copy.id, history }, null);
    for (const lineItem of lineItemsOf(platform, link)) {
      addLineItem(platform, { ...lineItem, courseId: copy.id, linkId: linkCopy.id }, lineItem);
    }
  }
  return copy;
}

export function linksOf(platform: Platform, courseId: string): Link[] {
  return [...platform.links.values()].filter((link) => link.courseId === courseId);
}
